package taintmanager

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/builtin"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/event"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// wire creates the parts of the manager, each after those that it uses.
func (m *Manager) wire(
	client kubernetes.Interface, pods coreinformers.PodInformer, c breaker.Config, published []byte,
	evictorChooses bool,
) error {
	m.createSource(client, pods)
	m.createDispatcher(client)
	m.createEvents(client)
	fieldManager := evict.FieldManager
	if m.options.DryRun || m.options.Evictor != nil {
		fieldManager = "" // unknown: a caller's evictor may write under any name, and in a dry run others evict
	}
	m.builtin = builtin.New(builtin.Options{
		Client: client, Own: fieldManager, Broken: m.conflictsWithBuiltin, Leading: m.leads.Load,
		Logger: m.options.Logger,
	})
	for range m.options.Shards {
		m.shards = append(m.shards, shard.New(shard.Options{
			CoreOptions: shard.CoreOptions{
				Reader: m.source, Judge: m.latestJudge, Dispatcher: m.dispatcher,
				Own:            func(pod *taint.Pod) dispatch.Own { return ownBy(m.self(), pod) },
				EvictorChooses: evictorChooses,
			},
			Notify: m.notify, Overtaken: m.builtin.Overtaken, Drained: m.drained,
			Held: func(h shard.Holding) { m.tracker.Put(breaker.PodsHeld{Policy: h.Policy, Pods: h.Pods}) },
		}))
	}
	m.createJournal(published)
	m.tracker = breaker.NewTracker(breaker.Options{
		Config: c, Judged: m.judged, Record: m.recordGuards, Report: m.report,
		Journaled:  func() breaker.Journaled { return *m.journaled.Load() },
		Namespaces: m.source.Namespaces, Keep: m.source.Need, SetPaused: m.dispatcher.SetPaused,
	})
	return m.metrics.register(m.options.Registerer)
}

func (m *Manager) createSource(client kubernetes.Interface, pods coreinformers.PodInformer) {
	if m.options.Watching != nil {
		client = m.options.Watching
	}
	// A response of the API server ends the outage backoff.
	heard := func() { m.dispatcher.ServerAnswered() }
	if pods == nil {
		m.source = cluster.Watch(client, m.options.Rules, heard)
	} else {
		m.source = cluster.Adapt(client, pods.Informer(), m.options.Rules, heard)
	}
	m.source.SetAhead(m.options.Ahead)
}

func (m *Manager) createDispatcher(client kubernetes.Interface) {
	evictor, read := m.evictor(client)
	m.dispatcher = dispatch.New(dispatch.Options{
		CoreOptions: dispatch.CoreOptions{
			Workers: m.options.Workers, CallsPerSecond: m.options.MaxEvictionsPerSecond, Rates: m.options.Guards.Rates,
			Paused: m.options.Paused, Leading: m.options.Leading,
			OtherReady: m.otherReady, WatchOutageUntil: m.source.WatchOutageUntil,
		},
		Evictor: evictor, Read: read, Started: m.callBegun, Ended: m.callEnded,
	})
}

// evictor returns the evictor, and the function that reads a node ahead of its calls. In a dry run, which sends no
// requests, that function does nothing.
func (m *Manager) evictor(client kubernetes.Interface) (evict.Evictor, func(ctx context.Context, node string)) {
	confirmed := evict.ConfirmOptions{
		Evictor: m.options.Evictor, Client: client, Reader: m.source, Judge: m.latestJudge,
		Version: m.source.Version, Timeout: m.options.CallTimeout,
		PausedSince: func() time.Time { return m.dispatcher.PausedSince() },
		Withdrawn:   func(uid types.UID) bool { return m.dispatcher.Withdrawn(uid) },
		NodeRead: func(node string, sent time.Time, o eviction.Outcome) {
			m.dispatcher.NodeRead(node, sent, o)
		},
	}
	switch {
	case m.options.DryRun:
		return evict.DryRunEvictor{Reader: m.source, Judge: m.latestJudge}, func(context.Context, string) {}
	case m.options.Evictor == nil:
		confirmed.Evictor = evict.NewAPI(client, evict.APIOptions{
			Method: m.options.apiMethod(), Timeout: m.options.CallTimeout, Leading: m.options.Leading,
		})
	}
	all := evict.Confirm(confirmed)
	return all, all.Read
}

func (m *Manager) createEvents(client kubernetes.Interface) {
	sink := event.NewSink(client)
	if m.options.Events != nil {
		sink = m.options.Events.Create
	}
	m.events = event.New(event.Options{
		Sink: sink, Busy: func() bool { return m.dispatcher.WantsPlaces() },
		Leading: func() bool { return m.leads.Load() && !m.options.DryRun },
	})
}

func (m *Manager) createJournal(config []byte) {
	var stored store.Objects
	if m.options.Journal != nil {
		stored = objects{m.options.Journal}
	}
	m.journal = store.New(store.Options{
		CoreOptions: store.CoreOptions{
			Source: m.source, Leading: m.options.Leading, Ahead: m.options.Ahead, ReadOnly: m.options.DryRun,
			Identity: m.options.Identity, Config: config,
		},
		Objects: stored, Synced: m.source.Synced(),
		Watched: m.source.LastWatch, GuardsRead: m.guardsRead, Logger: m.options.Logger,
	})
}

// now returns the present instant, with the known bounds of the API server's clock.
func (m *Manager) now() skew.Instant { return skew.Ahead(m.options.Ahead).At(time.Now()) }

// guardsRead processes the journal's record of guards and holds. A record that can't be decoded counts as none.
func (m *Manager) guardsRead(g store.Guards) {
	j := breaker.Journaled{Unread: !g.Read}
	if len(g.Text) > 0 {
		record, err := breaker.Decode(g.Text)
		if err != nil {
			m.options.Logger.Info("The journal's record of guards and holds is dropped", "err", err)
		}
		j.Record, j.Known = record.Converted(m.now().ToLocal), err == nil
	}
	m.journaled.Store(&j)
	if j.Known || g.Read {
		m.tracker.Put(breaker.RecordRead{Record: j.Record})
	}
}

// recordGuards passes a record of guards and holds to the journal.
func (m *Manager) recordGuards(r breaker.Record) {
	text, err := json.Marshal(r.Converted(m.now().Late))
	if err != nil {
		m.options.Logger.Error(err, "The record of guards and holds can't be written")
		return
	}
	m.journal.SetGuards(text)
}

func (m *Manager) shardOf(node string) *shard.Shard {
	return m.shards[shard.Index(node, len(m.shards))]
}

// handler passes the source's notifications to the shards, to the journal and to the tracker of holds.
type handler struct{ *Manager }

func (h handler) NodeChanged(name string) { h.shardOf(name).NodeChanged(name) }

func (h handler) RecordChanged(name string) { h.journal.NodeChanged(name) }

func (h handler) PodChanged(uid types.UID, node string) { h.shardOf(node).PodChanged(uid) }

// NodesChanged passes nodes to the breakers before the cache has them. So the shards have the resulting judge before
// they can read the nodes, and judge no node that breakers have not seen.
func (h handler) NodesChanged(changes []breaker.NodeChange, all bool) {
	h.tracker.Put(breaker.NodesChanged{Changes: changes, All: all})
}

func (h handler) NamespacesChanged() { h.tracker.Put(breaker.NamespacesChanged{}) }

// self returns the pod in which this process runs; nil if it is unknown.
func (m *Manager) self() *taint.Pod {
	self, _ := m.source.Pod(m.options.OwnPod)
	return self
}

// ownBy reports whether a pod belongs to the program that runs in the pod self: the pod is self, or has the same
// controlling owner.
func ownBy(self, pod *taint.Pod) dispatch.Own {
	switch {
	case self == nil:
		return dispatch.Other
	case pod.UID == self.UID:
		return dispatch.Self
	case pod.ReplicaOf(self):
		return dispatch.Sibling
	}
	return dispatch.Other
}

// otherReady reports whether a replica of this program, other than these pods, is Ready and not terminating.
func (m *Manager) otherReady(not ...types.UID) bool {
	self := m.self()
	return self != nil && m.source.AnyPod(func(pod *taint.Pod) bool {
		return pod.Ready && !pod.Terminating && pod.ReplicaOf(self) && !slices.Contains(not, pod.UID)
	})
}
