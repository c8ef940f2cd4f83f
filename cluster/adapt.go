package cluster

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// adapter reads pods from a caller's informer. It stores little itself: it converts pods when they are read.
type adapter struct {
	trimmer
	client   kubernetes.Interface
	informer cache.SharedIndexInformer
	seenPods *seenPods
	ahead    Ahead
	checked  atomic.Pointer[policy.Needs] // those for which the informer was checked; nil before
	recheck  chan struct{}
	done     func(err error) // is called after each check but the first

	// events admits one event at a time, and none once handler is nil.
	events   sync.Mutex
	handler  Handler
	warnings *warnings
}

// Adapt returns a watcher of nodes, like [Watch], that reads pods from a caller's informer of *v1.Pod. The informer
// must have all pods, or at least those that are bound and have not finished. Adapt registers its own index. The caller
// starts the informer, before or after.
//
// A transform of the informer must keep these fields unchanged: metadata.{name, namespace, uid, resourceVersion,
// creationTimestamp, deletionTimestamp, generation, labels}, the annotation kubernetes.io/config.mirror,
// spec.{nodeName, tolerations, priority}, status.phase, and the conditions PodScheduled and DisruptionTarget. If
// policies need them, it must also keep metadata.ownerReferences and spec.terminationGracePeriodSeconds. Without
// policies the former are used to show the pods' owners on the page.
//
// If a transform stripped tolerations, every pod of a tainted node would be evicted. Therefore Run compares a few pods,
// read with the client, with those in the informer before the watcher is in sync, and returns an error if a field is
// missing.
func Adapt(
	client kubernetes.Interface, pods cache.SharedIndexInformer, rules taint.Rules, heard func(),
) (*Watcher, error) {
	// Another adapter over the same informer has registered the same index.
	if _, ok := pods.GetIndexer().GetIndexers()[podsByNode]; !ok {
		if err := pods.AddIndexers(cache.Indexers{podsByNode: indexByNode}); err != nil {
			return nil, fmt.Errorf("adding the index %s to the pod informer: %w", podsByNode, err)
		}
	}
	needs := newNeeds()
	a := &adapter{
		client: client, informer: pods, seenPods: newSeenPods(), trimmer: newTrimmer(needs),
		recheck: make(chan struct{}, 1),
	}
	w := newWatcher(client, a, rules, heard, needs)
	a.done = w.end
	w.recheck, w.podsHave, w.runPods = a.recheck, a.has, a.run
	return w, nil
}

// run is the runPods of a [Watcher]. It returns an error if the informer has already stopped, or lacks required fields.
func (a *adapter) run(ctx context.Context, handler Handler, warnings *warnings, listed func()) error {
	a.setHandler(handler, warnings)
	defer a.setHandler(nil, nil)
	registered, err := a.informer.AddEventHandler(a.podEvents())
	if err != nil {
		return fmt.Errorf("listening to the pod informer: %w", err)
	}
	defer func() { _ = a.informer.RemoveEventHandler(registered) }() // it fails only for a foreign handle
	if !cache.WaitFor(ctx, "", registered.HasSyncedChecker()) {
		return nil
	}
	switch err := a.check(ctx); {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	listed()
	a.checkAgain(ctx)
	return nil
}

// has reports whether the informer was checked for these needs.
func (a *adapter) has(n *policy.Needs) bool {
	checked := a.checked.Load()
	return checked != nil && (checked.PodOwners || !n.PodOwners) && (checked.GracePeriods || !n.GracePeriods)
}

// checkAgain checks the informer whenever more fields of pods are needed, until the context ends.
func (a *adapter) checkAgain(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.recheck:
		}
		if a.has(a.needs.Load()) {
			continue
		}
		if err := a.check(ctx); ctx.Err() == nil {
			a.done(err)
		}
	}
}

// setHandler sets the handler to call from now on; nil means none. It waits for a call under way.
func (a *adapter) setHandler(handler Handler, warnings *warnings) {
	a.events.Lock()
	defer a.events.Unlock()
	a.handler, a.warnings = handler, warnings
}

// get returns the pod with this UID, or nil.
func (a *adapter) get(uid types.UID) *entry {
	s, ok := a.seenPods.get(uid)
	if !ok {
		return nil
	}
	obj, _, err := a.informer.GetIndexer().GetByKey(s.key)
	if err != nil {
		return nil
	}
	return a.convert(obj, uid)
}

// on returns the pods on a node, except those whose first event has not come yet: the handler is called for them later.
func (a *adapter) on(node string) []*entry {
	objects, err := a.informer.GetIndexer().ByIndex(podsByNode, node)
	if err != nil {
		return nil
	}
	list := make([]*entry, 0, len(objects))
	for _, obj := range objects {
		if p := a.convert(obj, ""); p != nil {
			list = append(list, p)
		}
	}
	return list
}

// convert returns the pod in an object of the informer. It returns nil if the pod is not kept, was not seen yet, or has
// another UID than uid, unless that is "".
func (a *adapter) convert(obj any, uid types.UID) *entry {
	p, ok := obj.(*v1.Pod)
	if !ok || p == nil || uid != "" && p.UID != uid {
		return nil
	}
	s, ok := a.seenPods.get(p.UID)
	if !ok {
		return nil
	}
	e := a.trim(p, s.bound)
	if !e.kept() {
		return nil
	}
	e.Seen = s.seen
	// The informer is ahead of its events. (Another object with the same version comes from a relist, which does not
	// produce an event.)
	if p.ResourceVersion != s.version {
		e.Seen = time.Now()
	}
	return &e
}
