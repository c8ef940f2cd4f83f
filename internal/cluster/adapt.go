package cluster

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/taint"
)

// Adapt returns a watcher of nodes, like [Watch], that takes pods from a caller's informer of *v1.Pod. The informer
// must have all pods, or at least those that are bound and have not finished. The caller starts the informer, before or
// after this call.
//
// A transform of the informer must keep these fields unchanged: metadata.{name, namespace, uid, resourceVersion,
// creationTimestamp, deletionTimestamp, generation, labels}, the annotation kubernetes.io/config.mirror,
// spec.{nodeName, tolerations, priority}, status.phase, and the conditions PodScheduled and DisruptionTarget. If
// policies need them, it must also keep metadata.ownerReferences and spec.terminationGracePeriodSeconds. Without
// policies, ownerReferences are used only to show the pods' owners on the page. Without metadata.finalizers, or without
// finished pods, the event Drained does not wait for finished pods that a finalizer keeps.
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

// coversInformer is like coversPods, but for an informer, in which [adapter.check] has checked only needed fields.
func coversInformer(followed, wanted *needs) bool {
	return coversPods(followed, wanted) && (followed.PodOwners || !wanted.PodOwners) &&
		(followed.GracePeriods || !wanted.GracePeriods)
}

// adapter stores the pods of a caller's informer, as a handler of its events.
type adapter struct {
	client   kubernetes.Interface
	informer cache.SharedIndexInformer
	relists  *relists

	mu    sync.Mutex
	store *store[*v1.Pod, *entry] // nil before the first list, and after the end: queued events may still come
}

// run keeps the store up to date until the context ends. It returns an error if the informer has stopped already, or
// lacks a required field. If it lacks a field that is required only later, run passes the error to refuse, and
// continues.
func (a *adapter) run(ctx context.Context, s *store[*v1.Pod, *entry], refuse func(error)) error {
	registered, err := a.informer.AddEventHandler(a)
	if err != nil {
		return fmt.Errorf("listening to the pod informer: %w", err)
	}
	defer a.end(registered)
	return a.relists.run(ctx, func(turn context.Context) error {
		err := a.list(turn, s, registered)
		if err != nil && turn.Err() == nil && a.relists.hasList() {
			a.relists.failed()
			refuse(err)
			err = nil
		}
		return err
	})
}

// list puts all pods of the informer into the store, after a check. After that, events that the informer has queued may
// show an older state of a pod first, and then the same state again.
func (a *adapter) list(ctx context.Context, s *store[*v1.Pod, *entry], r cache.ResourceEventHandlerRegistration) error {
	if !cache.WaitFor(ctx, "", r.HasSyncedChecker()) {
		return ctx.Err()
	}
	if err := a.check(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.store = s
	return s.Replace(a.informer.GetStore().List(), "")
}

// end ends the registration, and waits for an event that is being stored.
func (a *adapter) end(r cache.ResourceEventHandlerRegistration) {
	_ = a.informer.RemoveEventHandler(r) // it fails only for a foreign handle
	a.mu.Lock()
	defer a.mu.Unlock()
	a.store = nil
}

// OnAdd stores a new pod.
func (a *adapter) OnAdd(obj any, _ bool) { a.OnUpdate(nil, obj) }

// OnUpdate stores a changed pod, or a pod that has replaced another one of its name.
func (a *adapter) OnUpdate(_, obj any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.store != nil {
		_ = a.store.Update(obj)
	}
}

// OnDelete removes a deleted pod.
func (a *adapter) OnDelete(obj any) {
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		if obj = d.Obj; obj == nil {
			namespace, name, _ := cache.SplitMetaNamespaceKey(d.Key) // a malformed key names no pod
			obj = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.store != nil {
		_ = a.store.Delete(obj)
	}
}
