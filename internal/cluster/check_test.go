package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// fullPod returns a pod with every field that a transform must keep.
func fullPod() *v1.Pod {
	return aPod(condition(v1.PodScheduled, v1.ConditionTrue, at("10:00:00")), condition(v1.DisruptionTarget, v1.ConditionTrue, at("11:00:00")),
		func(p *v1.Pod) {
			p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x", "other": "y"}
			p.DeletionTimestamp = &p.CreationTimestamp
			p.Finalizers = []string{"example.com/held"}
			p.Spec.Priority = new(int32(1))
			p.Spec.Containers = []v1.Container{{Name: "c"}}
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
		})
}

// checked runs a watcher over an informer with this transform until it is in sync, or fails.
func checked(t *testing.T, strip func(p *v1.Pod)) error {
	t.Helper()
	var err error
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logr.Discard()), time.Minute)
		defer cancel()
		client := fake.NewClientset(fullPod(), aNode(v1.Taint{Key: "k"}))
		pods := podInformer(client)
		must(t, pods.SetTransform(func(obj any) (any, error) {
			strip(obj.(*v1.Pod))
			return obj, nil
		}))
		w := Adapt(client, pods, taint.Rules{}, nil)
		go pods.RunWithContext(ctx)
		err = w.Run(ctx, &record{source: w})
		if w.HasSynced() != (err == nil) {
			t.Errorf("in sync %t, and Run ended with %v", w.HasSynced(), err)
		}
	})
	return err
}

func TestATransformThatStripsWhatIsNeededIsRefusedByTheFieldsName(t *testing.T) {
	for field, strip := range map[string]func(p *v1.Pod){
		"pod informer lacks metadata.name":                                     func(p *v1.Pod) { p.Name = "" },
		"pod informer lacks metadata.namespace":                                func(p *v1.Pod) { p.Namespace = "" },
		"pod informer lacks metadata.uid":                                      func(p *v1.Pod) { p.UID = "" },
		"pod informer lacks metadata.resourceVersion":                          func(p *v1.Pod) { p.ResourceVersion = "" },
		"pod informer lacks metadata.creationTimestamp":                        func(p *v1.Pod) { p.CreationTimestamp = metav1.Time{} },
		"pod informer lacks metadata.deletionTimestamp":                        func(p *v1.Pod) { p.DeletionTimestamp = nil },
		"pod informer lacks metadata.generation":                               func(p *v1.Pod) { p.Generation = 0 },
		"pod informer lacks metadata.labels":                                   func(p *v1.Pod) { p.Labels = nil },
		"pod informer lacks metadata.annotations[kubernetes.io/config.mirror]": func(p *v1.Pod) { p.Annotations = nil },
		"pod informer lacks spec.nodeName":                                     func(p *v1.Pod) { p.Spec.NodeName = "" },
		"pod informer lacks spec.tolerations":                                  func(p *v1.Pod) { p.Spec.Tolerations = nil },
		"pod informer lacks spec.priority":                                     func(p *v1.Pod) { p.Spec.Priority = nil },
		"pod informer lacks status.phase":                                      func(p *v1.Pod) { p.Status.Phase = "" },
		"pod informer lacks status.conditions[PodScheduled]":                   func(p *v1.Pod) { p.Status.Conditions = nil },
		"pod informer lacks status.conditions[DisruptionTarget]": func(p *v1.Pod) {
			p.Status.Conditions = p.Status.Conditions[:min(1, len(p.Status.Conditions))]
		},
	} {
		err := checked(t, strip)
		if err == nil || !strings.Contains(err.Error(), field+":") {
			t.Errorf("got %v, want that the %s", err, field)
		}
	}
}

// checking returns an adapter of an informer that was not started.
func checking(client kubernetes.Interface) *adapter {
	return Adapt(client, podInformer(client), taint.Rules{}, nil).informer
}

func TestATransformThatStripsTheRestPasses(t *testing.T) {
	err := checked(t, func(p *v1.Pod) {
		p.ManagedFields, p.Finalizers, p.Spec.Containers, p.OwnerReferences = nil, nil, nil, nil
		delete(p.Annotations, "other")
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWhatHasChangedSinceIsNotCompared(t *testing.T) {
	held, live := fullPod(), fullPod()
	held.Spec.Tolerations, live.ResourceVersion = nil, "2"
	if path := missingField(held, live, &policy.Needs{}); path != "" {
		t.Errorf("%s is missed in a pod of another version", path)
	}
}

func TestAnInformerOfAnotherTypeIsRefused(t *testing.T) {
	a := checking(fake.NewClientset(fullPod()))
	must(t, a.informer.GetStore().Replace([]any{&metav1.PartialObjectMetadata{ObjectMeta: fullPod().ObjectMeta}}, "1"))
	err := a.check(t.Context())
	if err == nil || !strings.Contains(err.Error(), "holds a *v1.PartialObjectMetadata where a *v1.Pod is needed") {
		t.Errorf("got %v", err)
	}
}

func TestACheckThatCannotReadTriesAgainUntilItCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, tries := fake.NewClientset(fullPod()), 0
		client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			tries++
			return tries <= 10, nil, errors.New("no way")
		})
		a := checking(client)
		must(t, a.informer.GetStore().Add(&v1.Pod{ObjectMeta: fullPod().ObjectMeta}))
		if err := a.check(t.Context()); err == nil || !strings.Contains(err.Error(), "lacks spec") || tries != 11 {
			t.Errorf("got %v after %d tries", err, tries)
		}
	})
}

func TestACheckThatCannotReadEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("no way")
		})
		a := checking(client)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := a.check(ctx); err == nil {
			t.Errorf("got %v", err)
		}
	})
}
