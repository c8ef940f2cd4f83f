package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/taint"
)

// Adapt returns a watcher of nodes, like [Watch], that takes pods from a caller's informer of *v1.Pod. The informer
// must have all pods, or at least those that are bound and have not finished. The caller starts the informer, before or
// after.
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
func Adapt(client kubernetes.Interface, pods cache.SharedIndexInformer, rules taint.Rules, heard func()) *Watcher {
	w := Watch(client, rules, heard)
	w.podWatch.relists.covers = coversInformer
	w.informer = &adapter{client: client, informer: pods, relists: &w.podWatch.relists}
	return w
}

// coversInformer is coversPods for pods of an informer: only the needed fields of an informer are checked.
func coversInformer(followed, wanted *needs) bool {
	return coversPods(followed, wanted) && (followed.PodOwners || !wanted.PodOwners) &&
		(followed.GracePeriods || !wanted.GracePeriods)
}

// adapter keeps a store up to date with the pods of a caller's informer.
type adapter struct {
	client   kubernetes.Interface
	informer cache.SharedIndexInformer
	relists  *relists
}

// run keeps the store up to date until the context ends. It returns an error if the informer has stopped already, or
// lacks a required field. If it lacks a field that is required only later, run passes the error to lacks, and goes on.
func (a *adapter) run(ctx context.Context, s *store[*v1.Pod, entry], lacks func(error)) error {
	outdated := make(chan struct{}, 1)
	current := &listener{}
	for first := true; ; first = false {
		a.relists.begin()
		a.relists.watching(func() { signal(outdated) })
		next, err := a.listen(ctx, s)
		if err != nil {
			next.end()
		}
		switch {
		case err == nil:
			current.end()
			next.listed()
			current = next
		case ctx.Err() != nil: // it ends below
		case first:
			return err
		default:
			a.relists.failed()
			lacks(err)
		}
		select {
		case <-ctx.Done():
			current.end()
			return nil
		case <-outdated:
		}
	}
}

// listen registers with the informer, which sends all of its pods then, and checks them.
func (a *adapter) listen(ctx context.Context, s *store[*v1.Pod, entry]) (*listener, error) {
	l := &listener{store: s, list: map[string]any{}}
	registered, err := a.informer.AddEventHandler(l)
	if err != nil {
		return l, fmt.Errorf("listening to the pod informer: %w", err)
	}
	l.remove = func() { _ = a.informer.RemoveEventHandler(registered) } // it fails only for a foreign handle
	if !cache.WaitFor(ctx, "", registered.HasSyncedChecker()) {
		return l, ctx.Err()
	}
	return l, a.check(ctx)
}

// listener takes in the events of one registration with an informer. It collects the pods until all are there.
type listener struct {
	remove func() // ends the registration

	mu    sync.Mutex
	store *store[*v1.Pod, entry] // nil after the end: an informer may still send queued events
	list  map[string]any         // by name; nil once it is in the store
}

// OnAdd takes in a new pod.
func (l *listener) OnAdd(obj any, _ bool) { l.OnUpdate(nil, obj) }

// OnUpdate takes in a changed pod, or one that has replaced a pod of its name.
func (l *listener) OnUpdate(_, obj any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store == nil {
		return
	}
	if p, ok := obj.(*v1.Pod); ok && p != nil && l.list != nil {
		l.list[p.Namespace+"/"+p.Name] = p
		return
	}
	_ = l.store.Update(obj)
}

// OnDelete takes in that a pod was deleted. After a gap in the watch its last state may be missing, so that only its
// name is known.
func (l *listener) OnDelete(obj any) {
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = d.Obj
		if p, ok := obj.(*v1.Pod); !ok || p == nil {
			namespace, name, _ := cache.SplitMetaNamespaceKey(d.Key)
			obj = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store == nil {
		return
	}
	if p, ok := obj.(*v1.Pod); ok && p != nil && l.list != nil {
		delete(l.list, p.Namespace+"/"+p.Name)
		return
	}
	_ = l.store.Delete(obj)
}

// listed puts the collected pods into the store.
func (l *listener) listed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.store.Replace(slices.Collect(maps.Values(l.list)), "")
	l.list = nil
}

// end ends the registration, and waits for an event that is being taken in.
func (l *listener) end() {
	if l.remove != nil {
		l.remove()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.store = nil
}
