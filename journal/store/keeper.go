package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// patience is how long the first decision waits for partitions that do not answer.
const patience = 10 * time.Second

// Partitions stores the partitions of a journal. Several goroutines call its methods, one goroutine per partition and
// method. Errors should be those of k8s.io/apimachinery/pkg/api/errors where these have one: the keeper does not wait
// for a partition that is Forbidden.
type Partitions interface {
	// Watch calls tell with the partition's content, and again after each change, until the context ends. If reading
	// fails, it calls tell with the error and tries again. A partition that does not exist has no version. tell does
	// not block.
	Watch(ctx context.Context, partition int, tell func(journal.StoredPartition, error))

	// Write replaces the content of this version, or creates the partition if the version is empty, and returns the new
	// version. If the partition has another version by now, it stores nothing and returns an error.
	Write(ctx context.Context, partition int, content journal.StoredPartition) (version string, err error)
}

// Source has the nodes. Several goroutines call its methods.
type Source interface {
	// Tainted returns the nodes that carry NoExecute taints, or NoSchedule taints that policies make triggers.
	Tainted() []*taint.Node

	// Adopt merges a record into what is known of a node, and reports whether that changes anything; see
	// [journal.NodeHistory.Adopt].
	Adopt(node string, record journal.Record) bool
}

// Options are the parameters of a keeper.
type Options struct {
	// Partitions stores the journal. Nil means that there is none, and the keeper does nothing.
	Partitions Partitions

	// Source has the nodes to record; Synced is closed once it has all of them. Both are required.
	Source Source
	Synced <-chan struct{}

	// Adopted is called after a record has changed what is known of a node. It must not block. Required.
	Adopted func(node string)

	// GuardsRead is called with each record of guards and holds that another process has written, as [Keeper.Guards]
	// returns it from then on. It must not block. Nil means that nobody is interested.
	GuardsRead func(guard.Record)

	// Ahead returns by how much this process's wall clock is ahead of the API server's, as for
	// [journal.AdoptParams].Ahead. Nil means that the clocks agree.
	Ahead func(now time.Time) time.Duration

	// ReadOnly keeps the keeper from writing.
	ReadOnly bool

	// Leading is called right before each write; if it returns false, nothing is written. Nil means that only Lead's
	// context decides.
	Leading func() bool

	// LastLed is the last time at which another process is known to have led. A partition that had not been written for
	// long by then could not be written, and is not believed. Zero means unknown.
	LastLed time.Time

	// Metrics counts what the keeper does. Nil means no metrics.
	Metrics *Metrics

	// Logger receives the problems of the journal.
	Logger logr.Logger
}

// Keeper reads and writes a journal. Its methods are safe for concurrent use.
type Keeper struct {
	options    Options
	partitions []*partition
	loaded     chan struct{}
	troubles   *troubles
	guards     guards
	terms      atomic.Pointer[term]
}

// term is one term of leadership.
type term struct{ ctx context.Context }

// New returns a keeper that does nothing before Run.
func New(o Options) *Keeper {
	if o.Leading == nil {
		o.Leading = func() bool { return true }
	}
	if o.GuardsRead == nil {
		o.GuardsRead = func(guard.Record) {}
	}
	if o.Ahead == nil {
		o.Ahead = func(time.Time) time.Duration { return 0 }
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

// Run reads the journal, and writes it while leading, until the context ends. It may be called only once.
func (k *Keeper) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, p := range k.partitions {
		running.Go(func() { k.options.Partitions.Watch(ctx, p.number, p.tell) })
		running.Go(func() { p.run(ctx) })
	}
	k.load(ctx)
	running.Wait()
}

// load waits, for at most patience, until each partition was read or found to be forbidden.
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

// Loaded returns a channel that is closed once the source has what is recorded, or, if the journal is not available,
// some seconds after the source has synced. Decisions must wait for it.
func (k *Keeper) Loaded() <-chan struct{} { return k.loaded }

// NodeChanged notes that the taints of a node have changed, or that the node was deleted. It does not block.
func (k *Keeper) NodeChanged(name string) {
	if len(k.partitions) > 0 {
		k.partitions[journal.PartitionOf(name)].wake()
	}
}

// Lead permits writing until the context ends. It returns at once.
func (k *Keeper) Lead(ctx context.Context) {
	k.terms.Store(&term{ctx})
	for _, p := range k.partitions {
		p.wake()
	}
}

// term returns the present term; nil if this process does not lead.
func (k *Keeper) term() *term {
	if t := k.terms.Load(); t != nil && t.ctx.Err() == nil {
		return t
	}
	return nil
}

// leads returns the present term; nil if this process must not write.
func (k *Keeper) leads() *term {
	if k.options.ReadOnly {
		return nil
	}
	return k.term()
}

// Flush waits until all changes are written, or one more attempt has failed, or the context ends.
func (k *Keeper) Flush(ctx context.Context) {
	var flushing sync.WaitGroup
	for _, p := range k.partitions {
		flushing.Go(func() { p.flush(ctx) })
	}
	flushing.Wait()
}

// Trouble returns nil while the journal works; otherwise it returns a short description of the problem. It names
// neither nodes nor servers, so that it may be shown to everybody; the log names them.
func (k *Keeper) Trouble() error { return k.troubles.sum() }
