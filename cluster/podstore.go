package cluster

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/taint"
)

// podStore is the store of a reflector for pods: the watch puts in whole objects, a list whole objects or entries. Only
// the reflector's goroutine uses it.
type podStore struct {
	pods     *pods
	handler  Handler
	warnings *warnings

	// controller is reused space for the controller of the current pod; pods that are kept get a copy.
	controller taint.Owner

	// listed is called when the first list is in, and is nil from then on.
	listed func()
}

var _ cache.TransformingStore = (*podStore)(nil)

// Transformer trims the pods of a streamed list as they arrive, so that memory never holds all of the whole ones. It
// computes the Bound of an entry for the first list.
func (s *podStore) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		p, ok := obj.(*v1.Pod)
		if !ok || p == nil {
			return obj, nil
		}
		pod := s.podOf(p, s.pods.boundSince(p))
		return s.pods.entry(&pod), nil
	}
}

// Add stores a pod that the watch has shown for the first time.
func (s *podStore) Add(obj any) error { return s.Update(obj) }

// Update stores a pod that the watch has shown.
func (s *podStore) Update(obj any) error {
	if p, ok := obj.(*v1.Pod); ok && p != nil {
		s.put(s.podOf(p, s.pods.now()))
		return nil
	}
	s.warnings.unexpected("pod", obj)
	return nil
}

// Delete removes a pod that was deleted, or that is no longer watched.
func (s *podStore) Delete(obj any) error {
	if p, ok := obj.(*v1.Pod); ok && p != nil {
		s.tell(s.pods.drop(p.UID))
		return nil
	}
	s.warnings.unexpected("pod", obj)
	return nil
}

// Replace stores a whole list; the handler is called for differences only.
func (s *podStore) Replace(items []any, _ string) error {
	first, now := s.listed != nil, s.pods.now()
	listed := make(map[types.UID]bool, len(items))
	for _, item := range items {
		pod, ok := s.podIn(item)
		if !ok {
			s.warnings.unexpected("pod", item)
			continue
		}
		if !first {
			pod.Bound = now
		}
		listed[pod.UID] = true
		s.put(pod)
	}
	s.tell(s.pods.dropAllBut(listed))
	if first {
		s.listed()
		s.listed = nil
	}
	return nil
}

// Resync does nothing: the handler was called for everything.
func (s *podStore) Resync() error { return nil }

func (s *podStore) put(pod taint.Pod) {
	if pod.UID == "" {
		s.warnings.nameless(&pod)
		return
	}
	told := s.pods.put(pod)
	if len(told) > 0 {
		s.warnings.tolerations(&pod)
	}
	s.tell(told)
}

func (s *podStore) tell(changes []change) {
	for _, c := range changes {
		s.handler.PodChanged(c.uid, c.node)
	}
}

// podOf is PodOf without an allocation: the controller is valid until the next call.
func (s *podStore) podOf(p *v1.Pod, bound time.Time) taint.Pod {
	pod := ownerless(p, bound)
	if controller := metav1.GetControllerOfNoCopy(p); controller != nil {
		s.controller = taint.Owner{Kind: controller.Kind, Name: controller.Name}
		pod.Controller = &s.controller
	}
	return pod
}

// podIn returns the pod in an item of a list.
func (s *podStore) podIn(item any) (taint.Pod, bool) {
	switch p := untrimmed(item).(type) {
	case *entry:
		return p.Pod, true
	case *v1.Pod:
		if p != nil {
			return s.podOf(p, s.pods.boundSince(p)), true
		}
	}
	return taint.Pod{}, false
}
