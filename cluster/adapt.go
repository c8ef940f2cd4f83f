package cluster

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// Adapter reads pods and nodes from a caller's informers. It keeps little of its own: what it
// returns is converted when it is asked for. Its methods may be called by any number of goroutines.
type Adapter struct {
	podInformer, nodeInformer cache.SharedIndexInformer

	nodes     *nodes
	sightings *sightings
	synced    chan struct{}
	started   atomic.Bool

	// events lets in one event at a time, and none once handler is nil.
	events  sync.Mutex
	handler Handler
	odd     *oddities
}

// Adapt returns an adapter over informers of *v1.Pod, all of them or at least those that are bound and
// have not finished, and of all *v1.Node. It registers an index of its own on the pods. The caller
// starts the informers, before or after. The rules must be those that pods are judged by.
//
// A transform of the informers must let these fields through as they are:
//
//   - pods: metadata.{name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp,
//     generation, labels}, the annotation kubernetes.io/config.mirror, spec.{nodeName, tolerations,
//     priority}, status.phase, and the conditions PodScheduled and DisruptionTarget;
//   - nodes: metadata.{name, uid, resourceVersion, creationTimestamp} and spec.taints.
//
// A transform that strips tolerations would evict every pod of a tainted node; [Adapter.Check] looks
// for such ones.
func Adapt(podInformer, nodeInformer cache.SharedIndexInformer, rules taint.Rules) (*Adapter, error) {
	a := &Adapter{
		podInformer: podInformer, nodeInformer: nodeInformer,
		sightings: newSightings(), synced: make(chan struct{}),
	}
	a.nodes = newNodes(rules, a.podsOn, a.HasSynced)
	// Another adapter over the same informer has registered the same index.
	if _, ok := podInformer.GetIndexer().GetIndexers()[podsByNode]; ok {
		return a, nil
	}
	if err := podInformer.AddIndexers(cache.Indexers{podsByNode: indexByNode}); err != nil {
		return nil, fmt.Errorf("adding the index %s to the pod informer: %w", podsByNode, err)
	}
	return a, nil
}

// Run tells the handler of changes until the context ends and no call to the handler is under way. It
// returns an error when the informers have stopped already, or when it was run before.
func (a *Adapter) Run(ctx context.Context, handler Handler) error {
	if a.started.Swap(true) {
		return errRunsOnce
	}
	a.let(handler, newOddities(klog.FromContext(ctx)))
	defer a.let(nil, nil)
	nodes, err := listen(a.nodeInformer, a.nodeEvents())
	if err != nil {
		return fmt.Errorf("listening to the node informer: %w", err)
	}
	defer nodes.stop()
	pods, err := listen(a.podInformer, a.podEvents())
	if err != nil {
		return fmt.Errorf("listening to the pod informer: %w", err)
	}
	defer pods.stop()
	if cache.WaitFor(ctx, "", nodes.HasSyncedChecker(), pods.HasSyncedChecker()) {
		close(a.synced)
	}
	<-ctx.Done()
	return nil
}

// let lets the handler be called from now on; with nil, none. It waits for a call under way.
func (a *Adapter) let(handler Handler, odd *oddities) {
	a.events.Lock()
	defer a.events.Unlock()
	a.handler, a.odd = handler, odd
}

// Pod returns the pod with this UID and the node that it is bound to; each is nil when it is not there.
func (a *Adapter) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	s, ok := a.sightings.get(uid)
	if !ok {
		return nil, nil
	}
	obj, _, err := a.podInformer.GetIndexer().GetByKey(s.key)
	if err != nil {
		return nil, nil
	}
	return withNode(a.convert(obj, uid), a.nodes)
}

// PodsOn returns the node of this name, nil when it is not there, and the pods bound to it, in no order.
func (a *Adapter) PodsOn(node string) (*taint.Node, []*taint.Pod) {
	return a.nodes.get(node), a.podsOn(node)
}

// Version is the resourceVersion of the last look at a tainted node; empty when there is no such node.
func (a *Adapter) Version(node string) string { return a.nodes.version(node) }

// Tainted returns the nodes that carry NoExecute taints, in no order.
func (a *Adapter) Tainted() []*taint.Node { return a.nodes.carriers() }

// Adopt betters what is known of a node by the journal's record of it; see [journal.Known.Adopt]. It says
// whether that changes anything; the handler is not told.
func (a *Adapter) Adopt(node string, record journal.Record) bool {
	return a.nodes.adopt(node, record)
}

// Synced is closed once the informers have synced and the handler was told of all they had.
func (a *Adapter) Synced() <-chan struct{} { return a.synced }

// HasSynced says whether [Adapter.Synced] is closed.
func (a *Adapter) HasSynced() bool { return closed(a.synced) }

// Trouble is nil: how the caller's informers fare is for the caller to watch.
func (a *Adapter) Trouble() error { return nil }

// podsOn returns the pods on a node. One whose event has not come yet is left out: it will be told.
func (a *Adapter) podsOn(node string) []*taint.Pod {
	objects, err := a.podInformer.GetIndexer().ByIndex(podsByNode, node)
	if err != nil {
		return nil
	}
	list := make([]*taint.Pod, 0, len(objects))
	for _, obj := range objects {
		if p := a.convert(obj, ""); p != nil {
			list = append(list, p)
		}
	}
	return list
}

// convert is the pod in an object of the informer; nil when it is none that is kept, none that was
// seen, or one of another UID than the one that is asked for, if one is.
func (a *Adapter) convert(obj any, uid types.UID) *taint.Pod {
	p, ok := obj.(*v1.Pod)
	if !ok || p == nil || uid != "" && p.UID != uid {
		return nil
	}
	s, ok := a.sightings.get(p.UID)
	if !ok {
		return nil
	}
	pod := PodOf(p, s.bound)
	if !kept(&pod) {
		return nil
	}
	pod.Seen = s.seen
	if p != s.last {
		pod.Seen = time.Now() // the informer is ahead of its events
	}
	return &pod
}
