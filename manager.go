package taintmanager

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/cluster"
	"github.com/taint-manager/taint-manager/event"
	"github.com/taint-manager/taint-manager/evict"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/journal/store"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// flushTimeout bounds how long Run waits at its end for the journal to be written.
const flushTimeout = 5 * time.Second

// Manager evicts pods from nodes whose NoExecute taints they do not tolerate. Its methods are safe
// for concurrent use.
type Manager struct {
	options Options
	source  *cluster.Watcher
	shards  []*shard.Shard
	pool    *evict.Pool
	events  *event.Queue
	turn    chan struct{} // to lead: holds a token while nobody does
	journal *store.Keeper
}

// New returns a manager that does nothing before Run.
//
// pods is the caller's informer of pods, which the caller starts; package cluster's Adapt lists the fields that a
// transform of it must let through. Nil: the manager watches pods by itself, and keeps of them only what it
// needs. Nodes it always watches by itself. New fails on options that can't be, and when a metric's name
// is taken in the registry.
//
// The client needs these permissions, cluster-wide: get, list and watch nodes; list pods, also to check the caller's
// informer, and watch them where there is none; create events; and what [Options.Method] takes, which is
// delete on pods and patch on pods/status, or create on pods/eviction. Without list and watch on nodes
// the manager does not sync, evicts nobody, and says so by [Manager.Trouble].
func New(client kubernetes.Interface, pods coreinformers.PodInformer, o Options) (*Manager, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	m := &Manager{options: o, turn: make(chan struct{}, 1)}
	m.turn <- struct{}{}
	if err := m.read(client, pods); err != nil {
		return nil, err
	}
	if err := m.write(client); err != nil {
		return nil, err
	}
	for range o.Shards {
		m.shards = append(m.shards, shard.New(shard.Options{
			Reader: m.source, Rules: m.options.Rules, Permits: m.pool.Permits(), Notify: m.notify,
			SlowPermits: m.pool.SlowPermits(), SlowWorkloads: m.pool.SlowWorkloads, MaxInFlight: o.Workers + o.MaxSlowEvictions,
		}))
	}
	if err := errors.Join(m.record(), m.register(o.Registerer)); err != nil {
		return nil, err
	}
	return m, nil
}

// read sets up the source.
func (m *Manager) read(client kubernetes.Interface, pods coreinformers.PodInformer) (err error) {
	if m.options.Watching != nil {
		client = m.options.Watching
	}
	// A pause of all calls ends as soon as the API server is heard of again.
	heard := func() { m.pool.Nudge() }
	if pods == nil {
		m.source = cluster.Watch(client, m.options.Rules, heard)
	} else if m.source, err = cluster.Adapt(client, pods.Informer(), m.options.Rules, heard); err != nil {
		return fmt.Errorf("taintmanager.New: %w", err)
	}
	m.source.SetAhead(m.options.Ahead)
	return nil
}

// write sets up the slots and the events.
func (m *Manager) write(client kubernetes.Interface) error {
	evictor, err := m.evictor(client)
	if err != nil {
		return err
	}
	calls, err := evict.NewMetrics(m.options.Registerer)
	if err != nil {
		return fmt.Errorf("taintmanager.New: %w", err)
	}
	m.pool = evict.NewPool(evict.PoolOptions{
		Evictor: evictor, Workers: m.options.Workers, MaxSlow: m.options.MaxSlowEvictions, Rate: m.options.MaxEvictionsPerSecond,
		Paused: m.options.Paused, Leading: m.options.Leading, Metrics: calls, Ended: m.options.Ended,
	})
	sink := event.Sink(m.options.Events)
	if sink == nil {
		sink = event.NewSink(client)
	}
	stored, err := event.NewMetrics(m.options.Registerer)
	if err != nil {
		return fmt.Errorf("taintmanager.New: %w", err)
	}
	m.events = event.New(event.Options{
		Sink: sink, Metrics: stored, Busy: func() bool { return m.pool.InFlight() > 0 },
	})
	return nil
}

// record sets up the journal.
func (m *Manager) record() error {
	kept, err := store.NewMetrics(m.options.Registerer)
	if err != nil {
		return fmt.Errorf("taintmanager.New: %w", err)
	}
	m.journal = store.New(store.Options{
		Partitions: m.options.Journal, Source: m.source, Synced: m.source.Synced(),
		Adopted:  func(node string) { handler{shards: m.shards}.of(node).NodeChanged(node) },
		ReadOnly: m.options.DryRun, Leading: m.options.Leading, LastLed: m.options.LastLed,
		Metrics: kept, Logger: m.options.Logger,
	})
	return nil
}

func (m *Manager) evictor(client kubernetes.Interface) (evict.Evictor, error) {
	switch {
	case m.options.DryRun:
		return evict.DryRunEvictor{}, nil
	case m.options.Evictor != nil:
		return m.confirmed(client, m.options.Evictor), nil
	}
	api, err := evict.NewAPI(client, evict.APIOptions{
		Method: m.options.Method, Timeout: m.options.CallTimeout, Leading: m.options.Leading,
	})
	if err != nil {
		return nil, fmt.Errorf("taintmanager.New: %w", err)
	}
	return m.confirmed(client, api), nil
}

func (m *Manager) confirmed(client kubernetes.Interface, evictor evict.Evictor) evict.Evictor {
	return evict.Confirm(evict.ConfirmOptions{
		Evictor: evictor, Client: client, Reader: m.source, Rules: m.options.Rules,
		Version: m.source.Version, Timeout: m.options.CallTimeout,
		PausedSince: func() time.Time { return m.pool.PausedSince() },
		NodeRead:    func(sent time.Time, o eviction.Outcome) { m.pool.NodeRead(sent, o) },
	})
}

// register adds the metrics that only a manager can tell.
func (m *Manager) register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	scheduled := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "taint_manager_evictions_scheduled",
		Help: "Evictions that wait for their deadline, their next try, a slot or a slow place.",
	}, func() float64 { return float64(m.Scheduled()) })
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "taint_manager_slow_evictions_waiting",
		Help: "Evictions that are due and wait for a slow place, as calls for pods like theirs are slow.",
	}, func() float64 { return float64(m.waitingForSlowPlace()) })
	err := errors.Join(r.Register(scheduled), r.Register(waiting))
	if err != nil {
		return fmt.Errorf("taintmanager.New: registering metrics (two managers need a registry each, or one wrapped with labels): %w", err)
	}
	return nil
}

// HasSynced says whether the manager has seen the whole cluster, and has read the journal or waited for
// it long enough. Before that it decides nothing.
func (m *Manager) HasSynced() bool {
	select {
	case <-m.journal.Loaded():
		return true
	default:
		return false
	}
}

// Trouble is nil while the cluster can be watched, else says what can't, since when and why. How an informer of the
// caller's fares it does not know.
func (m *Manager) Trouble() error { return m.source.Trouble() }

// JournalTrouble is nil while all is well with the journal, else says in a few words what is not. It is
// no reason not to be ready: evictions go on, and none is earlier for it.
func (m *Manager) JournalTrouble() error { return m.journal.Trouble() }

// Scheduled is how many evictions wait for their deadline, their next try, a slot or a slow place.
func (m *Manager) Scheduled() int {
	n := 0
	for _, s := range m.shards {
		n += s.Scheduled()
	}
	return n
}

// waitingForSlowPlace is how many of them are due and wait for a slow place.
func (m *Manager) waitingForSlowPlace() int {
	n := 0
	for _, s := range m.shards {
		n += s.WaitingForSlowPlace()
	}
	return n
}

// Views returns what is known of each eviction, in no order. It takes time in proportion to their
// number, of which each shard spends its part. It fails when the context ends first, and before the
// cluster is in sync.
func (m *Manager) Views(ctx context.Context) ([]View, error) {
	if !m.HasSynced() {
		return nil, errors.New("pods, nodes and the journal have not been read yet")
	}
	all := make([]View, 0, m.Scheduled())
	for i, s := range m.shards {
		views, err := s.Views(ctx)
		if err != nil {
			return nil, fmt.Errorf("asking shard %d: %w", i, err)
		}
		all = append(all, views...)
	}
	return all, nil
}

// Tainted returns the nodes that carry NoExecute taints, in no order. They are to be read only.
func (m *Manager) Tainted() []*taint.Node { return m.source.Tainted() }

// handler passes what the source tells on to the shards, and to the journal.
type handler struct {
	shards  []*shard.Shard
	journal *store.Keeper
}

func (h handler) NodeChanged(name string) {
	h.of(name).NodeChanged(name)
	h.journal.NodeChanged(name)
}

func (h handler) PodChanged(uid types.UID, node string) { h.of(node).PodChanged(uid) }

func (h handler) of(node string) *shard.Shard { return h.shards[shard.Index(node, len(h.shards))] }

// Run watches and judges until its context ends; then it starts no further call, waits for calls
// under way as long as Options.DrainTimeout says, writes what is left of the journal, if Lead still
// permits that, and of the events, and returns nil. Calls that last longer are cut, which is no error: the log
// names their pods, and Options.Ended gets their outcomes.
// It is to be called once. It returns an error when it was called before, when the caller's informer has stopped,
// or when a transform of it hides what verdicts rest on; nobody is evicted then.
func (m *Manager) Run(ctx context.Context) error {
	ctx = klog.NewContext(ctx, m.options.Logger)
	// What runs on while calls end: the shards take their outcomes.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var watching, writing sync.WaitGroup
	failed := make(chan error, 1)
	watching.Go(func() {
		if err := m.source.Run(running, handler{m.shards, m.journal}); err != nil {
			failed <- err
		}
	})
	watching.Go(func() { m.journal.Run(running) })
	eventsCtx, stopEvents := context.WithCancel(running)
	defer stopEvents()
	writing.Go(func() { m.events.Run(eventsCtx) })

	err := m.judge(ctx, running, failed, &watching)
	m.drain(ctx)
	m.flush(ctx)
	stop()
	watching.Wait()
	writing.Wait()
	return err
}

// judge runs the shards once the cluster is in sync and the journal is read, until the context ends or
// watching fails.
func (m *Manager) judge(ctx, running context.Context, failed <-chan error, all *sync.WaitGroup) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("watching the cluster: %w", err)
	case <-m.source.Synced():
	}
	select {
	case <-ctx.Done():
		return nil
	case <-m.journal.Loaded():
	}
	for _, s := range m.shards {
		all.Go(func() { s.Run(running) })
	}
	<-ctx.Done()
	return nil
}

// drain ends all granting, and waits for the calls under way. It says which it has cut.
func (m *Manager) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.options.DrainTimeout)
	defer cancel()
	cut := m.pool.Drain(ctx)
	if len(cut) == 0 {
		return
	}
	var pods []string
	for _, e := range cut {
		pods = append(pods, e.Pod.Namespace+"/"+e.Pod.Name)
	}
	klog.FromContext(ctx).Info("Eviction calls under way were cut, as the process ends; the next leader sees what has come of them, and tries again what has not been done",
		"after", m.options.DrainTimeout, "calls", len(pods), "pods", pods)
}

// flush writes what is not yet in the journal, as long as this process leads.
func (m *Manager) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	m.journal.Flush(ctx)
}

// Lead permits eviction calls, and writing the journal, until its context ends, and returns when all
// of them have ended; those under way then are cut. While another Lead is under way it waits for its
// turn, so that an elector may start a new term before the calls of the last one have ended. It fails
// once Run has ended.
func (m *Manager) Lead(ctx context.Context) error {
	select {
	case <-m.turn:
		defer func() { m.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil
	}
	m.events.SetLeading(!m.options.DryRun)
	defer m.events.SetLeading(false)
	m.journal.Lead(ctx)
	return m.pool.Lead(klog.NewContext(ctx, m.options.Logger))
}
