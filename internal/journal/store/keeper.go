package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/taint-manager/taint-manager/internal/journal"
)

const callTimeout = 10 * time.Second // of one call

// Objects stores the partitions of a journal, and its state, which has the number [journal.StateObject]. Several
// goroutines call its methods. Errors should be those of k8s.io/apimachinery/pkg/api/errors if that package has a
// fitting one: a term does not wait for an object that is Forbidden.
type Objects interface {
	// Read reads the content as it is now. An object that does not exist has no version.
	Read(ctx context.Context, number int) (journal.StoredPartition, error)

	// Write replaces the content of this version, or creates the object if the version is empty, and returns the new
	// version. If the object has another version by now, it stores nothing and returns an error.
	Write(ctx context.Context, number int, content journal.StoredPartition) (version string, err error)
}

// Options are the parameters of a keeper. GuardsRead must not block.
type Options struct {
	CoreOptions // the source must be safe for concurrent use

	Objects Objects                  // stores the journal; nil stores nothing
	Synced  <-chan struct{}          // is closed once the source has all nodes
	Watched func() journal.LastWatch // see [Watched]; [Keeper.NodeChanged] was called for all changes up to it
	Logger  logr.Logger              // receives the problems of the journal

	// GuardsRead is called with the record of guards and holds in each term before [Keeper.Begin] returns, and again
	// when it was read late, or when another client has written it.
	GuardsRead func(Guards)
}

// Keeper is the goroutine around a [Core]. Its methods are safe for concurrent use.
type Keeper struct {
	options  Options
	core     *Core // only Run's goroutine uses it
	problems *prometheus.GaugeVec
	ended    chan struct{}
	wake     chan struct{}
	running  sync.WaitGroup
	term     atomic.Pointer[context.Context] // the latest one; nil before the first

	mu     sync.Mutex
	inputs []Input      // that were not processed
	counts map[Kind]int // of objects with a problem
}

// New returns a keeper that does nothing before Run.
func New(o Options) *Keeper {
	o.ReadOnly = o.ReadOnly || o.Objects == nil
	k := &Keeper{options: o, ended: make(chan struct{}), wake: make(chan struct{}, 1), counts: map[Kind]int{}}
	k.problems = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "taint_manager_journal_problems", Help: "Journal ConfigMaps with a problem, by kind.",
	}, []string{"kind"})
	o.Leading = func() bool { return (*k.term.Load()).Err() == nil && k.options.Leading() } // the core may lag behind
	k.core = NewCore(o.CoreOptions)
	for _, kind := range kinds() {
		k.problems.WithLabelValues(string(kind))
	}
	return k
}

// Run reads the journal when a term begins, and writes it during the term, until the context ends. It may be called
// only once.
func (k *Keeper) Run(ctx context.Context) {
	defer k.running.Wait()
	defer close(k.ended)
	var next <-chan time.Time // when the next step is due
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		case <-next:
		}
		last := k.options.Watched() // all changes up to it are among the inputs
		k.mu.Lock()
		inputs := append(k.inputs, Watched{last}) //nolint:gocritic // k.inputs begins anew
		k.inputs = nil
		k.mu.Unlock()
		for _, in := range inputs {
			next = k.step(ctx, in)
		}
	}
}

// put adds an input. It does not block. It drops a NodesChanged if an equal one still waits, because the core reads the
// nodes only after it has processed the one that waits.
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

// step processes an input, and returns when the next step is due.
func (k *Keeper) step(ctx context.Context, in Input) (next <-chan time.Time) {
	effects := k.core.Step(time.Now(), in)
	k.report(effects.Troubles)
	if effects.Guards != nil {
		k.options.GuardsRead(*effects.Guards)
	}
	for _, c := range effects.Calls {
		k.running.Go(func() { k.call(ctx, c) })
	}
	for _, done := range effects.Done {
		close(done)
	}
	if !effects.Next.IsZero() {
		next = time.After(time.Until(effects.Next))
	}
	return next
}

func (k *Keeper) report(changes []Trouble) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range changes {
		log := k.options.Logger.WithValues("kind", t.Kind, "object", t.Object)
		if t.Text == "" {
			k.counts[t.Kind]--
			log.Info("The journal no longer has the problem")
		} else {
			k.counts[t.Kind]++
			log.Info("The journal has a problem: what it lacks counts as not recorded", "problem", t.Text)
		}
		k.problems.WithLabelValues(string(t.Kind)).Set(float64(k.counts[t.Kind]))
	}
}

// call makes a call. It is cancelled when its term ends, and when Run does.
func (k *Keeper) call(ctx context.Context, c Call) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	defer context.AfterFunc(*k.term.Load(), cancel)() //nolint:contextcheck // ends with its term, too
	answer := Answered{Call: c}
	switch {
	case k.options.Objects == nil: // nothing is stored
	case c.Write == nil:
		answer.Content, answer.Err = k.options.Objects.Read(ctx, c.Number)
	default:
		answer.Content.Version, answer.Err = k.options.Objects.Write(ctx, c.Number, *c.Write)
	}
	k.put(answer)
}

// NodeChanged notes that the record of a node has changed, or that the node was deleted. It does not block.
func (k *Keeper) NodeChanged(name string) { k.put(NodesChanged{journal.PartitionOf(name)}) }

// Begin begins a term that lasts until ctx ends: it reads the journal, applies it once the source has all nodes, and
// publishes the configuration. True means that the first eviction call may start, false that ctx or Run has ended.
func (k *Keeper) Begin(ctx context.Context) bool {
	began := make(chan struct{})
	k.term.Store(&ctx)
	k.put(TermBegan{began})
	context.AfterFunc(ctx, func() { k.put(TermEnded{began}) })
	if !k.await(ctx, k.options.Synced) {
		return false
	}
	k.put(Synced{})
	return k.await(ctx, began)
}

// SetGuards sets the record that this process writes while it leads: at once, but at most once a second. Its times are
// by the API server's clock. It does not block.
func (k *Keeper) SetGuards(text json.RawMessage) { k.put(GuardsSet{text}) }

// SetConfig sets the configuration that this process publishes while it leads, as [journal.Config.Encode] returns it.
// It blocks until [ConfigSet] is answered, or the context or Run ends.
func (k *Keeper) SetConfig(ctx context.Context, text []byte) {
	done := make(chan struct{})
	k.put(ConfigSet{text, done})
	k.await(ctx, done)
}

// Flush waits until all changes are written, or one more attempt has failed, or the context or Run ends.
func (k *Keeper) Flush(ctx context.Context) {
	done := make(chan struct{})
	k.put(Flush{done})
	k.await(ctx, done)
}

// await waits until the channel is closed; false means that the context or Run has ended.
func (k *Keeper) await(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return ctx.Err() == nil
	case <-k.ended:
	case <-ctx.Done():
	}
	return false
}

// Collector returns the metric of the journal.
func (k *Keeper) Collector() prometheus.Collector { return k.problems }

// Trouble returns nil while the journal works; otherwise it returns a short description of the problem. It names
// neither nodes nor servers, so that it may be shown to everybody; the log names them.
func (k *Keeper) Trouble() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var parts []string
	for _, kind := range kinds() {
		if n := k.counts[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return fmt.Errorf("ConfigMaps with problems: %s; see the log for details", strings.Join(parts, ", "))
}
