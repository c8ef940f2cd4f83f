package cluster

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// podsByNode is the index that an adapter registers; the name is its own, so that it can't clash.
const podsByNode = "taint-manager.pods-by-node"

// indexByNode returns the node of a bound pod. It never fails, because the informer would panic.
func indexByNode(obj any) ([]string, error) {
	p, ok := obj.(*v1.Pod)
	if !ok || p == nil || p.Spec.NodeName == "" {
		return nil, nil
	}
	return []string{p.Spec.NodeName}, nil
}

// podEvents returns the handler of the pod informer's events.
func (a *adapter) podEvents() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			a.eachPod(obj, func(p *v1.Pod) { a.podSeen(nil, p, initial) })
		},
		UpdateFunc: func(old, now any) {
			before, _ := old.(*v1.Pod)
			a.eachPod(now, func(p *v1.Pod) { a.podSeen(before, p, false) })
		},
		DeleteFunc: a.podDeleted,
	}
}

// eachPod calls f with the pod in the object, if there is one and events are admitted.
func (a *adapter) eachPod(obj any, f func(p *v1.Pod)) {
	a.events.Lock()
	defer a.events.Unlock()
	p, ok := obj.(*v1.Pod)
	switch {
	case a.handler == nil:
	case !ok || p == nil:
		a.warnings.unexpected("pod", obj)
	case p.UID == "":
		e := a.trim(p, time.Time{})
		a.warnings.nameless(&e.Pod)
	default:
		f(p)
	}
}

// podSeen stores the current state of a pod; before is its previous state, or the pod that it has replaced, or nil.
func (a *adapter) podSeen(before, p *v1.Pod, initial bool) {
	if before != nil && before.UID != p.UID {
		a.podGone(before.UID)
		before = nil
	}
	now := a.trim(p, time.Time{})
	if !now.kept() {
		a.podGone(p.UID)
		return
	}
	s, seen := a.seenPods.get(p.UID)
	var old *entry
	if seen && before != nil {
		old = new(a.trim(before, time.Time{}))
	}
	a.seenPods.put(p.UID, s.next(p, &now, old, initial, a.ahead))
	switch {
	case !seen:
		a.warnings.tolerations(&now)
	case s.node != now.Node:
		a.handler.PodChanged(p.UID, s.node)
	case old != nil && old.sameVerdict(&now, a.needs.Load().PodOwners):
		return
	}
	a.handler.PodChanged(p.UID, now.Node)
}

// next returns what is remembered of a pod after an event; s is empty if it is the first event. old is the pod's
// previous state, or nil if unknown.
func (s seenPod) next(p *v1.Pod, now, old *entry, initial bool, ahead Ahead) seenPod {
	at := time.Now()
	if s.bound.IsZero() {
		s.bound = at
		if initial {
			s.bound = boundSince(p, at, ahead.at(at))
		}
	}
	if old == nil || !old.sameExposure(now) {
		s.seen = at
	}
	s.key, s.node, s.version = now.Key(), now.Node, p.ResourceVersion
	return s
}

// podGone forgets a pod, if it was seen.
func (a *adapter) podGone(uid types.UID) {
	s, ok := a.seenPods.get(uid)
	if !ok {
		return
	}
	a.seenPods.drop(uid)
	a.handler.PodChanged(uid, s.node)
}

// podDeleted forgets a pod that was deleted. After a gap in the watch its last state may be missing, so that only its
// key is known.
func (a *adapter) podDeleted(obj any) {
	a.events.Lock()
	defer a.events.Unlock()
	obj, key := unwrap(obj)
	p, ok := obj.(*v1.Pod)
	switch {
	case a.handler == nil:
	case ok && p != nil:
		a.podGone(p.UID)
	case key != "":
		for _, uid := range a.seenPods.named(key) {
			a.podGone(uid)
		}
	default:
		a.warnings.unexpected("pod", obj)
	}
}

// unwrap returns the last state of a deleted object, which may be anything, and its key if the informer has missed the
// deletion itself.
func unwrap(obj any) (last any, key string) {
	switch d := obj.(type) {
	case cache.DeletedFinalStateUnknown:
		return d.Obj, d.Key
	case *cache.DeletedFinalStateUnknown:
		if d != nil {
			return d.Obj, d.Key
		}
	}
	return obj, ""
}
