package cluster

import (
	"context"
	"errors"
	"math"
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
			p.Spec.TerminationGracePeriodSeconds = new(int64(5))
			controlledBy("Job", "j")(p)
		})
}

// checked runs a watcher with these needs over an informer with this transform until it is in sync, or fails.
func checked(t *testing.T, needs policy.Needs, strip func(p *v1.Pod)) error {
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
		met := w.Need(needs)
		go pods.RunWithContext(ctx)
		err = w.Run(ctx, &record{source: w})
		if err != nil && <-met == nil {
			t.Error("the needs are met")
		}
		if w.HasSynced() != (err == nil) {
			t.Errorf("in sync %t, and Run ended with %v", w.HasSynced(), err)
		}
	})
	return err
}

func TestATransformThatStripsWhatIsNeededIsRefusedByTheFieldsName(t *testing.T) {
	needs := policy.Needs{PodOwners: true, GracePeriods: true}
	for field, strip := range map[string]func(p *v1.Pod){
		"metadata.name":                                     func(p *v1.Pod) { p.Name = "" },
		"metadata.namespace":                                func(p *v1.Pod) { p.Namespace = "" },
		"metadata.uid":                                      func(p *v1.Pod) { p.UID = "" },
		"metadata.resourceVersion":                          func(p *v1.Pod) { p.ResourceVersion = "" },
		"metadata.creationTimestamp":                        func(p *v1.Pod) { p.CreationTimestamp = metav1.Time{} },
		"metadata.deletionTimestamp":                        func(p *v1.Pod) { p.DeletionTimestamp = nil },
		"metadata.generation":                               func(p *v1.Pod) { p.Generation = 0 },
		"metadata.labels":                                   func(p *v1.Pod) { p.Labels = nil },
		"metadata.annotations[kubernetes.io/config.mirror]": func(p *v1.Pod) { p.Annotations = nil },
		"metadata.ownerReferences":                          func(p *v1.Pod) { p.OwnerReferences = nil },
		"spec.nodeName":                                     func(p *v1.Pod) { p.Spec.NodeName = "" },
		"spec.tolerations":                                  func(p *v1.Pod) { p.Spec.Tolerations = nil },
		"spec.priority":                                     func(p *v1.Pod) { p.Spec.Priority = nil },
		"spec.terminationGracePeriodSeconds":                func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = nil },
		"status.phase":                                      func(p *v1.Pod) { p.Status.Phase = "" },
		"status.conditions[PodScheduled]":                   func(p *v1.Pod) { p.Status.Conditions = nil },
		"status.conditions[DisruptionTarget]": func(p *v1.Pod) {
			p.Status.Conditions = p.Status.Conditions[:min(1, len(p.Status.Conditions))]
		},
	} {
		err := checked(t, needs, strip)
		if want := "pod informer lacks " + field + ":"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want that the %s", err, want)
		}
	}
}

// checking returns an adapter of an informer that was not started.
func checking(client kubernetes.Interface) *adapter {
	return Adapt(client, podInformer(client), taint.Rules{}, nil).informer
}

func TestATransformThatStripsTheRestPasses(t *testing.T) {
	err := checked(t, policy.Needs{}, func(p *v1.Pod) {
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

func TestAPodThatTheInformerLacksIsNotCompared(t *testing.T) {
	if err := checking(fake.NewClientset(fullPod())).check(t.Context()); err != nil {
		t.Error(err)
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

func TestACheckThatCannotReadTriesAgainUntilItCanOrItsContextEnds(t *testing.T) {
	for name, c := range map[string]struct {
		failures int
		want     string
	}{
		"it can at last": {10, "lacks spec"},
		"it never can":   {math.MaxInt, "context deadline exceeded"},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, tries := fake.NewClientset(fullPod()), 0
			client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				tries++
				return tries <= c.failures, nil, errors.New("no way")
			})
			a := checking(client)
			must(t, a.informer.GetStore().Add(&v1.Pod{ObjectMeta: fullPod().ObjectMeta}))
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if err := a.check(ctx); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v after %d tries", name, err, tries)
			}
		})
	}
}
