package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// patience is how long the first decision waits for partitions that don't answer.
const patience = 10 * time.Second

// Partitions keeps the partitions of a journal. Its methods are called by several goroutines, for a partition by one
// each. Errors are those of k8s.io/apimachinery/pkg/api/errors where there is one: a partition that is
// Forbidden is not waited for.
type Partitions interface {
	// Watch tells how the partition is, and again whenever it has changed, until the context ends. It
	// tells, too, whenever it has failed to look, and tries again. A partition that there is not is a
	// Sheet without a version. tell does not block.
	Watch(ctx context.Context, partition int, tell func(journal.StoredPartition, error))

	// Write stores the content in place of the one of its version, in place of none if that is empty,
	// and returns the version that it has from now on. When the partition is of another version by now,
	// it stores nothing and fails.
	Write(ctx context.Context, partition int, content journal.StoredPartition) (version string, err error)
}

// Source knows the nodes. Its methods are called by several goroutines.
type Source interface {
	// Tainted returns the nodes that carry NoExecute taints.
	Tainted() []*taint.Node

	// Adopt betters what is known of a node by its record; see [journal.NodeHistory.Adopt]. It says whether that
	// changes anything.
	Adopt(node string, record journal.Record) bool
}

// Options are what a keeper works with.
type Options struct {
	// Partitions are where the journal is. Nil: there is none, and the keeper does nothing.
	Partitions Partitions

	// Source is whose nodes are recorded; Synced is closed once it knows them all. Both are required.
	Source Source
	Synced <-chan struct{}

	// Adopted is told that a record has changed what is known of a node. It must not block. Required.
	Adopted func(node string)

	// ReadOnly never writes.
	ReadOnly bool

	// Leading is asked right before each write; what it denies is not written. Nil: Lead's context
	// alone decides.
	Leading func() bool

	// LastLed is until when another process is known to have led. A partition that was not written for
	// long by then could not be, and is not believed. Zero: nothing is known.
	LastLed time.Time

	// Metrics counts what the keeper does. Nil: nothing is counted.
	Metrics *Metrics

	// Logger takes what is wrong with the journal.
	Logger logr.Logger
}

// Keeper takes care of a journal. Its methods are safe for concurrent use.
type Keeper struct {
	options    Options
	partitions []*partition
	loaded     chan struct{}
	troubles   *troubles
	term       atomic.Pointer[term]
}

// term is one time of leadership.
type term struct{ ctx context.Context }

// New returns a keeper that does nothing before Run.
func New(o Options) *Keeper {
	if o.Leading == nil {
		o.Leading = func() bool { return true }
	}
	if o.Metrics == nil {
		o.Metrics = newMetrics()
	}
	k := &Keeper{options: o, loaded: make(chan struct{}), troubles: newTroubles(o.Logger, o.Metrics)}
	for number := range journal.Partitions {
		if o.Partitions != nil {
			k.partitions = append(k.partitions, newPartition(k, number))
		}
	}
	return k
}

// Run reads, and while leading writes, until the context ends. It is to be called once.
func (k *Keeper) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, p := range k.partitions {
		running.Go(func() { k.options.Partitions.Watch(ctx, p.number, p.tell) })
		running.Go(func() { p.run(ctx) })
	}
	k.load(ctx)
	running.Wait()
}

// load waits until each partition was read, or was found to be closed to us; but not for ever.
func (k *Keeper) load(ctx context.Context) {
	select {
	case <-k.options.Synced:
	case <-ctx.Done():
		return
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, p := range k.partitions {
		select {
		case <-p.known:
		case <-waiting.Done():
		}
	}
	close(k.loaded)
}

// Loaded is closed once what is recorded is known to the source, or, some seconds after the source is
// in sync, if it can't be had. Decisions are to wait for it.
func (k *Keeper) Loaded() <-chan struct{} { return k.loaded }

// NodeChanged says that the taints of a node have changed, or that it is gone. It does not block.
func (k *Keeper) NodeChanged(name string) {
	if len(k.partitions) > 0 {
		k.partitions[journal.PartitionOf(name)].wake()
	}
}

// Lead permits writing until the context ends. It returns at once.
func (k *Keeper) Lead(ctx context.Context) {
	k.term.Store(&term{ctx})
	for _, p := range k.partitions {
		p.wake()
	}
}

// leads returns the context of the present term; nil while this process is not to write.
func (k *Keeper) leads() context.Context {
	if t := k.term.Load(); t != nil && t.ctx.Err() == nil && !k.options.ReadOnly {
		return t.ctx
	}
	return nil
}

// Flush waits until all that has changed is written, or has failed once more, or the context ends.
func (k *Keeper) Flush(ctx context.Context) {
	var flushing sync.WaitGroup
	for _, p := range k.partitions {
		flushing.Go(func() { p.flush(ctx) })
	}
	flushing.Wait()
}

// Trouble is nil while all is well with the journal, else says in a few words what is not. It names
// neither nodes nor servers, so that anybody may see it; the log does.
func (k *Keeper) Trouble() error { return k.troubles.sum() }
