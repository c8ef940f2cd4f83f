package cluster

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/taint"
)

// podsByNode is the index that an adapter registers; the name is its own, so that it can't clash.
const podsByNode = "taint-manager.pods-by-node"

// indexByNode files bound pods under their node. It never fails: the informer would panic.
func indexByNode(obj any) ([]string, error) {
	p, ok := obj.(*v1.Pod)
	if !ok || p == nil || p.Spec.NodeName == "" {
		return nil, nil
	}
	return []string{p.Spec.NodeName}, nil
}

// podEvents takes in what the pod informer tells.
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

// eachPod calls f with the pod in the object, if there is one and events are let in.
func (a *adapter) eachPod(obj any, f func(p *v1.Pod)) {
	a.events.Lock()
	defer a.events.Unlock()
	p, ok := obj.(*v1.Pod)
	switch {
	case a.handler == nil:
	case !ok || p == nil:
		a.warnings.unexpected("pod", obj)
	case p.UID == "":
		pod := ownerless(p, time.Time{})
		a.warnings.nameless(&pod)
	default:
		f(p)
	}
}

// podSeen takes in a pod as it is now; before is how it was, or what it has replaced, or nil.
func (a *adapter) podSeen(before, p *v1.Pod, initial bool) {
	if before != nil && before.UID != p.UID {
		a.podGone(before.UID)
		before = nil
	}
	now := ownerless(p, time.Time{})
	if !kept(&now) {
		a.podGone(p.UID)
		return
	}
	s, seen := a.seenPods.get(p.UID)
	var old *taint.Pod
	if seen && before != nil {
		of := ownerless(before, time.Time{})
		old = &of
	}
	a.seenPods.put(p.UID, s.next(p, &now, old, initial, a.ahead))
	switch {
	case !seen:
		a.warnings.tolerations(&now)
	case s.node != now.Node:
		a.handler.PodChanged(p.UID, s.node)
	case old != nil && !worthJudging(old, &now):
		return
	}
	a.handler.PodChanged(p.UID, now.Node)
}

// next is what is remembered of a pod after an event; s is empty when it is the first. old is how the
// pod was before, nil when that is not known.
func (s seenPod) next(p *v1.Pod, now, old *taint.Pod, initial bool, ahead Ahead) seenPod {
	at := time.Now()
	if s.bound.IsZero() {
		s.bound = at
		if initial {
			s.bound = boundSince(p, at, ahead.at(at))
		}
	}
	if old == nil || !sameExposure(old, now) {
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

// podDeleted forgets the pod that is gone. After a gap in the watch its last state, and anything else
// but its key, may be missing.
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

// unwrap returns what a deletion is about: its last state, which may be anything, and its key, where
// the informer has missed the deletion itself.
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
