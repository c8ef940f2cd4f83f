package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
)

// callTimeout bounds one call.
const callTimeout = 10 * time.Second

// Partitions stores the partitions of a journal. Several goroutines call its methods, one goroutine per partition and
// method. Errors should be those of k8s.io/apimachinery/pkg/api/errors where these have one: the keeper does not wait
// for a partition that is Forbidden.
type Partitions interface {
	// Watch calls report with the partition's content, and again after each change, until the context ends. If reading
	// fails, Watch calls report with the error and tries again. A partition that does not exist has no version. report
	// does not block.
	Watch(ctx context.Context, partition int, report func(journal.StoredPartition, error))

	// Write replaces the content of this version, or creates the partition if the version is empty, and returns the new
	// version. If the partition has another version by now, it stores nothing and returns an error.
	Write(ctx context.Context, partition int, content journal.StoredPartition) (version string, err error)
}

// Options are the parameters of a keeper. If Leading is nil, only Lead's context decides. If Ahead is nil, the clocks
// agree.
type Options struct {
	CoreOptions

	// Partitions stores the journal. If it is nil, there is no journal, and the keeper does nothing.
	Partitions Partitions

	// Synced is closed once the source has all nodes. Required. The source must be safe for concurrent use.
	Synced <-chan struct{}

	// Adopted is called after a record has changed the history of a node. It must not block. Required.
	Adopted func(node string)

	// GuardsRead is called with the record of guards and holds that another process has written, as [Keeper.Guards]
	// returns it from then on. It must not block. Required.
	GuardsRead func(breaker.Record)

	// Metrics counts what the keeper does. Nil means no metrics.
	Metrics *Metrics

	// Logger receives the problems of the journal.
	Logger logr.Logger
}

// Keeper is the goroutine around a [Core]. Its methods are safe for concurrent use.
type Keeper struct {
	options  Options
	core     *Core       // only Run's goroutine uses it
	timer    *time.Timer // of the next step; likewise
	troubles *troubles
	guards   atomic.Pointer[guards] // of the core, after its last step
	loaded   chan struct{}
	ended    chan struct{}
	wake     chan struct{}
	running  sync.WaitGroup

	mu     sync.Mutex
	inputs []Input         // that were not processed
	terms  int             // so far
	term   context.Context // the latest one
}

// New returns a keeper that does nothing before Run.
func New(o Options) *Keeper {
	if o.Leading == nil {
		o.Leading = func() bool { return true }
	}
	if o.Ahead == nil {
		o.Ahead = func(time.Time) time.Duration { return 0 }
	}
	if o.Metrics == nil {
		o.Metrics, _ = NewMetrics(nil) // nothing can fail
	}
	k := &Keeper{
		options: o, troubles: newTroubles(o.Logger, o.Metrics),
		loaded: make(chan struct{}), ended: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	core := o.CoreOptions
	core.Leading, core.None = k.leads, o.Partitions == nil
	k.core = NewCore(core)
	k.guards.Store(&guards{})
	return k
}

// Run reads the journal, and writes it while leading, until the context ends. It may be called only once.
func (k *Keeper) Run(ctx context.Context) {
	defer k.leave()
	for number := range len(k.core.partitions) {
		k.running.Go(func() {
			k.options.Partitions.Watch(ctx, number, func(s journal.StoredPartition, err error) {
				if err != nil {
					k.put(Heard{number, nil, err})
					return
				}
				k.put(Heard{number, &s, nil})
			})
		})
	}
	synced := k.options.Synced
	k.timer = time.NewTimer(time.Hour)
	defer k.timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-synced:
			synced = nil
			k.step(ctx, Synced{})
		case <-k.wake:
			for _, in := range k.take() {
				k.step(ctx, in)
			}
		case <-k.timer.C:
			k.step(ctx, TimePassed{})
		}
	}
}

// leave waits for the goroutines that Run has started, and sets the metrics to zero.
func (k *Keeper) leave() {
	close(k.ended)
	k.running.Wait()
	k.troubles.forget()
	k.options.Metrics.entries.Set(0)
}

// put adds an input. It does not block. A NodesChanged that still waits covers a later equal one, because the core
// reads the nodes only when it processes it.
func (k *Keeper) put(in Input) {
	k.mu.Lock()
	if _, change := in.(NodesChanged); !change || !slices.Contains(k.inputs, in) {
		k.inputs = append(k.inputs, in)
	}
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// take returns the inputs that wait.
func (k *Keeper) take() (inputs []Input) {
	k.mu.Lock()
	defer k.mu.Unlock()
	inputs, k.inputs = k.inputs, nil
	return inputs
}

// step passes one input to the core, and its effects on.
func (k *Keeper) step(ctx context.Context, in Input) {
	effects := k.core.Step(time.Now(), in)
	k.guards.Store(new(k.core.guards))
	for i := range effects.Troubles {
		k.troubles.note(&effects.Troubles[i])
	}
	for _, node := range effects.Adopted {
		k.options.Adopted(node)
	}
	if effects.Guards != nil {
		k.options.GuardsRead(*effects.Guards)
	}
	term := k.latestTerm()
	for _, w := range effects.Writes {
		k.running.Go(func() { k.write(ctx, term, w) })
	}
	k.options.Metrics.entries.Set(float64(k.core.Records()))
	if effects.Loaded {
		close(k.loaded)
	}
	for _, done := range effects.Flushed {
		close(done)
	}
	if k.timer.Stop(); !effects.Next.IsZero() {
		k.timer.Reset(time.Until(effects.Next))
	}
}

// write makes a write. It is cancelled when its term ends, and when Run does.
func (k *Keeper) write(ctx, term context.Context, w Write) {
	call, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	defer context.AfterFunc(term, cancel)() // the call ends with its term, too
	version, err := k.options.Partitions.Write(call, w.Partition, w.Content)
	k.options.Metrics.wrote(err)
	k.put(Written{w.Partition, version, err, term.Err() != nil || ctx.Err() != nil})
}

// leads reports whether this process may write. A term may have ended although the core was not told yet.
func (k *Keeper) leads() bool { return k.latestTerm().Err() == nil && k.options.Leading() }

func (k *Keeper) latestTerm() context.Context {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.term
}

// Loaded returns a channel that is closed once the source has the records, or, if the journal is not available,
// some seconds after the source has synced. Decisions must wait for it.
func (k *Keeper) Loaded() <-chan struct{} { return k.loaded }

// NodeChanged notes that the taints of a node have changed, or that the node was deleted. It does not block.
func (k *Keeper) NodeChanged(name string) { k.put(NodesChanged{journal.PartitionOf(name)}) }

// NodesListed notes that the source has taken in a list of all nodes. It does not block.
func (k *Keeper) NodesListed() { k.put(NodesListed{}) }

// Lead permits writing until the context ends. It returns at once.
func (k *Keeper) Lead(ctx context.Context) {
	k.mu.Lock()
	k.terms++
	number := k.terms
	k.term = ctx
	k.mu.Unlock()
	k.put(TermBegan{number})
	context.AfterFunc(ctx, func() { k.put(TermEnded{number}) })
}

// SetGuards sets the record that this process writes while it leads: at once, but at most once a second. The times of
// the record carry the monotonic clock. It does not block.
func (k *Keeper) SetGuards(r breaker.Record) { k.put(GuardsSet{r}) }

// Guards returns the record that was set, or that another process has written since. Its times carry the monotonic
// clock. known is false if the journal cannot be read, has no record, or was not written for too long: then the ends of
// all holds so far are unknown. It is complete once [Keeper.Loaded] is closed. A leader carries the record that it has
// read over into its own writings until it sets one.
func (k *Keeper) Guards() (r breaker.Record, known bool) { return k.guards.Load().at(time.Now()) }

// Flush waits until all changes are written, or one more attempt has failed, or the context or Run ends.
func (k *Keeper) Flush(ctx context.Context) {
	done := make(chan struct{})
	k.put(Flush{done})
	select {
	case <-done:
	case <-k.ended:
	case <-ctx.Done():
	}
}

// Trouble returns nil while the journal works; otherwise it returns a short description of the problem. It names
// neither nodes nor servers, so that it may be shown to everybody; the log names them.
func (k *Keeper) Trouble() error { return k.troubles.summary() }
