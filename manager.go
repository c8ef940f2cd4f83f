package taintmanager

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/builtin"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/event"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// flushTimeout bounds how long Run waits at its end until the journal is written.
const flushTimeout = 5 * time.Second

// Manager evicts pods from nodes whose NoExecute taints they do not tolerate. Its methods are safe
// for concurrent use.
type Manager struct {
	options    Options
	source     *cluster.Watcher
	shards     []*shard.Shard
	dispatcher *dispatch.Dispatcher
	events     *event.Queue
	leadToken  chan struct{} // holds a token unless Lead is running
	beginning  chan struct{} // holds a token while a term begins
	journal    *store.Keeper
	journaled  atomic.Pointer[breaker.Journaled] // guards and holds as last read from the journal

	builtin *builtin.Checker

	started atomic.Bool // Run was called
	leads   atomic.Bool
	tracker *breaker.Tracker
	latest  atomic.Pointer[policy.Judge]
	inForce atomic.Pointer[Policies]
	metrics *metrics
}

// New returns a manager that does nothing before Run.
//
// pods is the caller's pod informer, which the caller starts; docs/embed.md lists the fields that a transform must
// keep. If pods is nil, the manager watches pods itself, and keeps only the fields that it needs. It always watches
// nodes itself. New returns an error if an option is invalid, or if the registry already has a metric of the same name.
//
// The client needs these permissions, cluster-wide: get, list and watch nodes; list pods (also to check the caller's
// informer), and watch pods if there is no informer; create events; list and watch namespaces if a policy has a
// namespaceSelector; and, for [Options.Method] and each policy, those of the method: delete pods and patch pods/status
// for Delete, create pods/eviction for Evict. Without list and watch on nodes (and on namespaces, if they are needed
// when Run begins) the manager does not sync and evicts no pod, and [Manager.Trouble] reports it.
func New(client kubernetes.Interface, pods coreinformers.PodInformer, o Options) (*Manager, error) {
	evictorChooses := o.Evictor != nil && o.Method == ""
	if err := o.complete(); err != nil {
		return nil, err
	}
	inForce, configured, err := o.policies().complete()
	if err != nil {
		return nil, err
	}
	published, err := inForce.published(o.MaxEvictionsPerSecond)
	if err != nil {
		return nil, err
	}
	m := &Manager{options: o, leadToken: make(chan struct{}, 1), beginning: make(chan struct{}, 1)}
	m.metrics = newMetrics(m)
	m.leadToken <- struct{}{}
	m.latest.Store(&policy.Judge{Set: configured.Set, Facts: &policy.Facts{Paused: o.Paused}})
	m.inForce.Store(&inForce)
	m.journaled.Store(&breaker.Journaled{})
	if err := m.wire(client, pods, configured, published, evictorChooses); err != nil {
		return nil, fmt.Errorf("taintmanager.New: %w", err)
	}
	return m, nil
}

// Run watches the cluster and decides until its context ends. Then it starts no further call, waits at most
// Options.DrainTimeout for calls in flight, writes the remaining events and, if Lead still permits it, the rest of the
// journal, and returns nil. Calls that take longer are cancelled, which is not an error: the log names their pods, and
// Options.Ended receives their outcomes.
//
// Run may be called only once. It returns an error, and evicts no pod, if it was called before, if the caller's
// informer has stopped, or if a transform of the informer hides fields that verdicts depend on.
func (m *Manager) Run(ctx context.Context) error {
	if m.started.Swap(true) {
		return errors.New("taintmanager: Run was called before")
	}
	ctx = klog.NewContext(ctx, m.options.Logger)
	// running outlives ctx until all calls have ended, because the shards process their outcomes.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	for _, s := range m.shards {
		s.Open()
		defer s.Close()
	}
	var watching, writing sync.WaitGroup
	failed := make(chan error, 1)
	watching.Go(func() {
		if err := m.source.Run(running, handler{m}); err != nil {
			failed <- err
		}
	})
	watching.Go(func() { m.journal.Run(running) })
	watching.Go(func() { m.tracker.Run(running) })
	eventsCtx, stopEvents := context.WithCancel(running)
	defer stopEvents()
	writing.Go(func() { m.events.Run(eventsCtx) })
	writing.Go(func() { m.builtin.Run(running) })

	err := m.runShards(ctx, running, failed, &watching)
	m.drain(ctx)
	m.flush(ctx)
	stop()
	watching.Wait()
	writing.Wait()
	return err
}

// runShards runs the shards once the source has synced, until the context ends or watching fails.
func (m *Manager) runShards(ctx, running context.Context, failed <-chan error, all *sync.WaitGroup) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return fmt.Errorf("watching the cluster: %w", err)
	case <-m.source.Synced():
	}
	if err := m.tracker.Prepare(ctx); ctx.Err() == nil && err != nil {
		return err
	}
	select {
	case m.beginning <- struct{}{}: // judging pods before the journal is applied would judge them twice
		<-m.beginning
	case <-ctx.Done():
		return nil
	}
	for _, s := range m.shards {
		all.Go(func() { s.Run(running) })
	}
	<-ctx.Done()
	return nil
}

// drain starts no further call, waits for the calls in flight, and logs those that it has cancelled.
func (m *Manager) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.options.DrainTimeout)
	defer cancel()
	var pods []string
	for _, e := range m.dispatcher.Drain(ctx) {
		pods = append(pods, e.Pod.Key())
	}
	if len(pods) == 0 {
		return
	}
	klog.FromContext(ctx).Info("Eviction calls were cancelled because the process is shutting down; the next leader sees their results, and repeats those that failed",
		"after", m.options.DrainTimeout, "calls", len(pods), "pods", pods)
}

// flush writes the records that the journal lacks, if this process leads.
func (m *Manager) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	m.journal.Flush(ctx)
}

// Lead permits eviction calls and journal writes until its context ends. First it reads the journal, for at most 10 s,
// and publishes the configuration. When the context ends, Lead cancels the calls in flight, and returns once all of
// them have ended. If Lead is already running, a second Lead waits until the first has returned, so an elector may
// start a new term before the eviction calls of the previous term have ended. Lead returns an error once Run has ended.
func (m *Manager) Lead(ctx context.Context) error {
	select {
	case <-m.leadToken:
		defer func() { m.leadToken <- struct{}{} }()
	case <-ctx.Done():
		return nil
	}
	judged := m.HasSynced() // if so, shards have judged pods but, not leading, reported no holds: reportHeld does
	m.leads.Store(!judged)
	defer m.leads.Store(false)
	m.beginning <- struct{}{}
	began := m.journal.Begin(ctx)
	if <-m.beginning; !began {
		return nil
	}
	m.leads.Store(true)
	m.tracker.Put(breaker.LeadershipBegan{})
	defer m.tracker.Put(breaker.LeadershipEnded{})
	reportCtx, stop := context.WithCancel(ctx)
	var reporting sync.WaitGroup
	defer reporting.Wait()
	defer stop()
	if judged {
		reporting.Go(func() { m.reportHeld(reportCtx) })
	}
	return m.dispatcher.Lead(klog.NewContext(ctx, m.options.Logger))
}

// HasSynced reports whether the manager has seen the whole cluster. Before that it decides nothing.
func (m *Manager) HasSynced() bool { return m.source.HasSynced() }

// Trouble returns nil while the manager can watch the cluster; otherwise the error says what cannot be watched, since
// when, and why. It does not cover a caller's informer.
func (m *Manager) Trouble() error { return m.source.Trouble() }

// JournalTrouble returns nil while the journal works; otherwise it returns a short description of the problem. The
// problem does not affect readiness: evictions continue, and none happens earlier because of it.
func (m *Manager) JournalTrouble() error { return m.journal.Trouble() }

// BuiltinTrouble returns a warning if this process, while it led within the last day, saw the built-in controller (the
// taint-eviction-controller of kube-controller-manager) evict pods; otherwise nil. The warning does not affect
// readiness.
func (m *Manager) BuiltinTrouble() error { return m.builtin.Trouble() }

// Paused reports whether calls are paused.
func (m *Manager) Paused() bool { return m.InForce().Paused }

// InForce returns the policies that are in force now, with defaults. Callers must not modify them.
func (m *Manager) InForce() Policies { return *m.inForce.Load() }

// IdleBreakers returns a message for each breaker that cannot trip given the present nodes.
func (m *Manager) IdleBreakers() []string { return m.tracker.Idle() }

// Scheduled returns the number of evictions that wait for their deadline, their next attempt or their turn.
func (m *Manager) Scheduled() int {
	n := m.dispatcher.Waiting()
	for _, s := range m.shards {
		n += s.Scheduled()
	}
	return n
}

// Views returns the state of each eviction, in no particular order. It takes time linear in their number, and blocks
// each shard for its share of that time. It returns an error if the context ends first, or if the manager has not
// synced yet.
func (m *Manager) Views(ctx context.Context) ([]View, error) {
	views, _, err := m.Earliest(ctx, math.MaxInt)
	return views, err
}

// Earliest is like Views, but it returns only about as many evictions as the limit, those with the earliest deadlines,
// and the number of the others. It uses memory only for the evictions that it returns.
func (m *Manager) Earliest(ctx context.Context, limit int) (all []View, left int, err error) {
	if !m.HasSynced() {
		return nil, 0, errors.New("pods and nodes have not been read yet")
	}
	all = make([]View, 0, min(m.Scheduled(), limit))
	var known time.Time // all evictions with an earlier deadline are in the list; zero: all evictions are
	share := min(limit, math.MaxInt-1)/len(m.shards) + 1
	for i, s := range m.shards {
		views, more, err := s.Earliest(ctx, share)
		if err != nil {
			return nil, 0, fmt.Errorf("asking shard %d: %w", i, err)
		}
		if more > 0 && len(views) > 0 {
			last := slices.MaxFunc(views, byDeadline).Verdict.At
			if known.IsZero() || last.Before(known) {
				known = last
			}
		}
		all, left = append(all, views...), left+more
	}
	self, shown := m.self(), all[:0]
	for i := range all {
		v := &all[i]
		if !known.IsZero() && v.Verdict.At.After(known) {
			left++
			continue
		}
		v.Own = v.State != eviction.StateHeld && v.DeletedBy == "" && ownBy(self, v.Pod) != dispatch.Other
		shown = append(shown, *v)
	}
	return shown, left, nil
}

// OwnView returns the state of the eviction of this program's own pod. It returns false if no eviction of the pod is
// scheduled, or if the program does not run in a pod.
func (m *Manager) OwnView(ctx context.Context) (v View, scheduled bool) {
	self := m.self()
	if self == nil {
		return v, false
	}
	v, scheduled, err := m.shardOf(self.Node).View(ctx, self.UID)
	return v, scheduled && err == nil
}

func byDeadline(a, b View) int { return a.Verdict.At.Compare(b.Verdict.At) }

// Tainted returns the nodes with taints that may evict pods, in no particular order. Callers must not modify them.
func (m *Manager) Tainted() []*taint.Node { return m.source.Tainted() }

// OutageWithoutNoExecute returns the nodes that have the taint not-ready or unreachable, but not with an effect that
// evicts. It maps the name of each node to the time at which its condition Ready stopped being True; zero if unknown.
func (m *Manager) OutageWithoutNoExecute() map[string]time.Time {
	return m.source.OutageWithoutNoExecute()
}
