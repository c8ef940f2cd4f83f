package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
)

// callTimeout bounds one call.
const callTimeout = 10 * time.Second

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

// Options are the parameters of a keeper.
type Options struct {
	// Partitions stores the journal. Nil means that there is none, and the keeper does nothing.
	Partitions Partitions

	// Source has the nodes to record, and is safe for concurrent use; Synced is closed once it has all of them. Both
	// are required.
	Source Source
	Synced <-chan struct{}

	// Adopted is called after a record has changed what is known of a node. It must not block. Required.
	Adopted func(node string)

	// GuardsRead is called with the record of guards and holds whenever another process has written its partition, as
	// [Keeper.Guards] returns it from then on. known is false if the partition has none, or if it can't be believed. It
	// must not block. Nil means that nobody is interested.
	GuardsRead func(r guard.Record, known bool)

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

// Keeper is the goroutine around a [Core]. Its methods are safe for concurrent use.
type Keeper struct {
	options  Options
	core     *Core // only Run's goroutine uses it
	troubles *troubles
	records  int                    // that the metrics show
	guards   atomic.Pointer[guards] // of the core, after its last step
	loaded   chan struct{}
	ended    chan struct{}
	wake     chan struct{}
	running  sync.WaitGroup

	mu      sync.Mutex
	inputs  []Input                  // that were not processed
	heard   [journal.Partitions]news // likewise
	changed [journal.Partitions]bool // partitions whose nodes have changed
	listed  bool                     // the source has taken in a list
	terms   int                      // so far
	term    context.Context          // the latest one
	flushes []chan struct{}          // all so far; nil once they are done
}

// New returns a keeper that does nothing before Run.
func New(o Options) *Keeper {
	if o.Leading == nil {
		o.Leading = func() bool { return true }
	}
	if o.GuardsRead == nil {
		o.GuardsRead = func(guard.Record, bool) {}
	}
	if o.Ahead == nil {
		o.Ahead = func(time.Time) time.Duration { return 0 }
	}
	if o.Metrics == nil {
		o.Metrics = newMetrics()
	}
	k := &Keeper{
		options: o, troubles: newTroubles(o.Logger, o.Metrics),
		loaded: make(chan struct{}), ended: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	k.core = NewCore(CoreOptions{
		Source: o.Source, Leading: k.leads, Ahead: o.Ahead, ReadOnly: o.ReadOnly, LastLed: o.LastLed,
		None: o.Partitions == nil,
	})
	k.guards.Store(&guards{})
	return k
}

// Run reads the journal, and writes it while leading, until the context ends. It may be called only once.
func (k *Keeper) Run(ctx context.Context) {
	defer k.leave()
	for number := range len(k.core.partitions) {
		k.running.Go(func() {
			k.options.Partitions.Watch(ctx, number, func(s journal.StoredPartition, err error) {
				k.hear(Heard{number, s, time.Now(), err})
			})
		})
	}
	synced := k.options.Synced
	var next time.Time
	for {
		due, stop := timer(next)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-synced:
			synced = nil
			next = k.step(ctx, Synced{})
		case <-k.wake:
			for _, in := range k.take() {
				next = k.step(ctx, in)
			}
		case <-due:
			next = k.step(ctx, TimePassed{})
		}
		stop()
	}
}

// timer returns a channel that receives at that time; never if it is zero.
func timer(at time.Time) (due <-chan time.Time, stop func()) {
	if at.IsZero() {
		return nil, func() {}
	}
	t := time.NewTimer(time.Until(at))
	return t.C, func() { t.Stop() }
}

// leave waits for what was started, and removes this keeper's share of the metrics.
func (k *Keeper) leave() {
	close(k.ended)
	k.running.Wait()
	k.troubles.forget()
	k.options.Metrics.entries.Add(float64(-k.records))
}

// news is what the watch of a partition has shown last, and the error of the read after it; nil if there is none.
type news struct{ content, failure *Heard }

// hear adds what the watch of a partition shows. It replaces what was not processed yet, so that a client that writes
// often does not fill memory. It does not block.
func (k *Keeper) hear(in Heard) {
	k.mu.Lock()
	if n := &k.heard[in.Partition]; in.Err != nil {
		n.failure = &in
	} else {
		*n = news{content: &in}
	}
	k.mu.Unlock()
	k.signal()
}

// put adds an input. It does not block.
func (k *Keeper) put(in Input) {
	k.mu.Lock()
	k.inputs = append(k.inputs, in)
	k.mu.Unlock()
	k.signal()
}

func (k *Keeper) signal() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// take returns the inputs that wait. Changes of nodes come first: a flush that waits is to write them.
func (k *Keeper) take() (inputs []Input) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for number, changed := range k.changed {
		if changed {
			inputs = append(inputs, NodesChanged{number})
		}
	}
	if k.listed {
		inputs = append(inputs, NodesListed{})
	}
	for _, n := range k.heard {
		for _, h := range []*Heard{n.content, n.failure} {
			if h != nil {
				inputs = append(inputs, *h)
			}
		}
	}
	inputs = append(inputs, k.inputs...)
	k.changed, k.listed, k.inputs, k.heard = [journal.Partitions]bool{}, false, nil, [journal.Partitions]news{}
	return inputs
}

// step passes one input to the core, and its effects on. It returns when the next step is due.
func (k *Keeper) step(ctx context.Context, in Input) time.Time {
	do := k.core.Step(time.Now(), in)
	k.guards.Store(new(k.core.guards))
	for _, one := range do.Troubles {
		k.troubles.note(one)
	}
	for _, node := range do.Adopted {
		k.options.Adopted(node)
	}
	if do.Guards != nil {
		k.options.GuardsRead(do.Guards.Record, do.Guards.Usable)
	}
	for _, w := range do.Writes {
		k.running.Go(func() { k.write(ctx, w) })
	}
	k.options.Metrics.entries.Add(float64(k.core.Records() - k.records))
	k.records = k.core.Records()
	if do.Loaded {
		close(k.loaded)
	}
	k.flushed(do.Flushed)
	return do.Next
}

// write makes a write. It is cancelled when its term ends, and when Run does.
func (k *Keeper) write(ctx context.Context, w Write) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	k.mu.Lock()
	term, over := k.term, w.Term != k.terms
	k.mu.Unlock()
	defer context.AfterFunc(term, cancel)() //nolint:contextcheck // the call ends with its term, too
	if over {
		cancel()
	}
	version, err := k.options.Partitions.Write(call, w.Partition, w.Content)
	k.options.Metrics.wrote(err)
	k.put(Written{w.Partition, version, err, over || term.Err() != nil || ctx.Err() != nil})
}

// leads reports whether this process may write. A term may have ended although the core was not told yet.
func (k *Keeper) leads() bool {
	k.mu.Lock()
	term := k.term
	k.mu.Unlock()
	return term.Err() == nil && k.options.Leading()
}

// Loaded returns a channel that is closed once the source has what is recorded, or, if the journal is not available,
// some seconds after the source has synced. Decisions must wait for it.
func (k *Keeper) Loaded() <-chan struct{} { return k.loaded }

// NodeChanged notes that the taints of a node have changed, or that the node was deleted. It does not block.
func (k *Keeper) NodeChanged(name string) {
	k.mu.Lock()
	k.changed[journal.PartitionOf(name)] = true
	k.mu.Unlock()
	k.signal()
}

// NodesListed notes that the source has taken in a list of all nodes. It does not block.
func (k *Keeper) NodesListed() {
	k.mu.Lock()
	k.listed = true
	k.mu.Unlock()
	k.signal()
}

// Lead permits writing until the context ends. It returns at once.
func (k *Keeper) Lead(ctx context.Context) {
	k.mu.Lock()
	k.terms++
	number := k.terms
	k.term = ctx
	k.inputs = append(k.inputs, TermBegan{number})
	k.mu.Unlock()
	k.signal()
	context.AfterFunc(ctx, func() { k.put(TermEnded{number}) })
}

// SetGuards sets the record that this process writes while it leads: at once, but at most once a second. The times of
// the record carry the monotonic clock. It does not block.
func (k *Keeper) SetGuards(r guard.Record) { k.put(GuardsSet{r}) }

// Guards returns the record that was set, or that another process has written since. Its times carry the monotonic
// clock. known is false if the journal cannot be read, has no record, or was not written for too long: then the ends of
// all holds so far are unknown. It is complete once [Keeper.Loaded] is closed. A leader carries the record that it has
// read over into its own writings until it sets one.
func (k *Keeper) Guards() (r guard.Record, known bool) { return k.guards.Load().at(time.Now()) }

// Flush waits until all changes are written, or one more attempt has failed, or the context or Run ends.
func (k *Keeper) Flush(ctx context.Context) {
	done := make(chan struct{})
	k.mu.Lock()
	k.flushes = append(k.flushes, done)
	k.inputs = append(k.inputs, Flush{len(k.flushes) - 1})
	k.mu.Unlock()
	k.signal()
	select {
	case <-done:
	case <-k.ended:
	case <-ctx.Done():
	}
}

// flushed ends flushes.
func (k *Keeper) flushed(ids []int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range ids {
		close(k.flushes[id])
		k.flushes[id] = nil
	}
}

// Trouble returns nil while the journal works; otherwise it returns a short description of the problem. It names
// neither nodes nor servers, so that it may be shown to everybody; the log names them.
func (k *Keeper) Trouble() error { return k.troubles.sum() }
