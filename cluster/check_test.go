package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/taint"
)

// fullPod has every field that a transform must let through.
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

// checked runs a check over informers with this transform.
func checked(t *testing.T, strip func(p *v1.Pod, n *v1.Node)) error {
	t.Helper()
	var err error
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		client := fake.NewClientset(fullPod(), aNode(v1.Taint{Key: "k"}))
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(func(obj any) (any, error) {
			switch o := obj.(type) {
			case *v1.Pod:
				strip(o, &v1.Node{})
			case *v1.Node:
				strip(&v1.Pod{}, o)
			}
			return obj, nil
		}))
		a, adaptErr := Adapt(factory.Core().V1().Pods().Informer(), factory.Core().V1().Nodes().Informer(), taint.Rules{})
		must(t, adaptErr)
		factory.StartWithContext(ctx)
		synctest.Wait()
		err = a.Check(ctx, client)
		cancel()
		factory.Shutdown()
	})
	return err
}

func TestATransformThatStripsWhatIsNeededIsRefusedByTheFieldsName(t *testing.T) {
	for field, strip := range map[string]func(p *v1.Pod, n *v1.Node){
		"pod informer lacks metadata.name":                                     func(p *v1.Pod, _ *v1.Node) { p.Name = "" },
		"pod informer lacks metadata.namespace":                                func(p *v1.Pod, _ *v1.Node) { p.Namespace = "" },
		"pod informer lacks metadata.uid":                                      func(p *v1.Pod, _ *v1.Node) { p.UID = "" },
		"pod informer lacks metadata.resourceVersion":                          func(p *v1.Pod, _ *v1.Node) { p.ResourceVersion = "" },
		"pod informer lacks metadata.creationTimestamp":                        func(p *v1.Pod, _ *v1.Node) { p.CreationTimestamp = metav1.Time{} },
		"pod informer lacks metadata.deletionTimestamp":                        func(p *v1.Pod, _ *v1.Node) { p.DeletionTimestamp = nil },
		"pod informer lacks metadata.generation":                               func(p *v1.Pod, _ *v1.Node) { p.Generation = 0 },
		"pod informer lacks metadata.labels":                                   func(p *v1.Pod, _ *v1.Node) { p.Labels = nil },
		"pod informer lacks metadata.annotations[kubernetes.io/config.mirror]": func(p *v1.Pod, _ *v1.Node) { p.Annotations = nil },
		"pod informer lacks spec.nodeName":                                     func(p *v1.Pod, _ *v1.Node) { p.Spec.NodeName = "" },
		"pod informer lacks spec.tolerations":                                  func(p *v1.Pod, _ *v1.Node) { p.Spec.Tolerations = nil },
		"pod informer lacks spec.priority":                                     func(p *v1.Pod, _ *v1.Node) { p.Spec.Priority = nil },
		"pod informer lacks status.phase":                                      func(p *v1.Pod, _ *v1.Node) { p.Status.Phase = "" },
		"pod informer lacks status.conditions[PodScheduled]":                   func(p *v1.Pod, _ *v1.Node) { p.Status.Conditions = nil },
		"pod informer lacks status.conditions[DisruptionTarget]": func(p *v1.Pod, _ *v1.Node) {
			p.Status.Conditions = p.Status.Conditions[:min(1, len(p.Status.Conditions))]
		},
		"node informer lacks metadata.name":              func(_ *v1.Pod, n *v1.Node) { n.Name = "" },
		"node informer lacks metadata.uid":               func(_ *v1.Pod, n *v1.Node) { n.UID = "" },
		"node informer lacks metadata.resourceVersion":   func(_ *v1.Pod, n *v1.Node) { n.ResourceVersion = "" },
		"node informer lacks metadata.creationTimestamp": func(_ *v1.Pod, n *v1.Node) { n.CreationTimestamp = metav1.Time{} },
		"node informer lacks spec.taints":                func(_ *v1.Pod, n *v1.Node) { n.Spec.Taints = nil },
	} {
		err := checked(t, strip)
		if err == nil || !strings.Contains(err.Error(), field+":") {
			t.Errorf("got %v, want that the %s", err, field)
		}
	}
}

func TestATransformThatStripsTheRestPasses(t *testing.T) {
	err := checked(t, func(p *v1.Pod, n *v1.Node) {
		p.ManagedFields, p.Finalizers, p.Spec.Containers, p.OwnerReferences = nil, nil, nil, nil
		delete(p.Annotations, "other")
		n.ManagedFields, n.Labels, n.Status = nil, nil, v1.NodeStatus{}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWhatHasChangedSinceIsNotCompared(t *testing.T) {
	held, live := fullPod(), fullPod()
	held.Spec.Tolerations, live.ResourceVersion = nil, "2"
	if path := lost(held, live, podFields()); path != "" {
		t.Errorf("%s is missed in a pod of another version", path)
	}
}

func TestInformersOfOtherTypesAreRefused(t *testing.T) {
	a, _ := byHand(t)
	must(t, a.podInformer.GetStore().Replace([]any{&metav1.PartialObjectMetadata{ObjectMeta: fullPod().ObjectMeta}}, "1"))
	err := a.Check(t.Context(), fake.NewClientset(fullPod()))
	if err == nil || !strings.Contains(err.Error(), "holds a *v1.PartialObjectMetadata where a *v1.Pod is needed") {
		t.Errorf("got %v", err)
	}
}

func TestACheckThatCannotReadTriesAgainUntilItCan(t *testing.T) {
	for _, resource := range []string{"pods", "nodes"} {
		synctest.Test(t, func(t *testing.T) {
			client, tries := fake.NewClientset(fullPod()), 0
			client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				tries++
				return tries <= 10, nil, errors.New("no way")
			})
			a, _ := byHand(t)
			must(t, a.podInformer.GetStore().Add(&v1.Pod{ObjectMeta: fullPod().ObjectMeta}))
			if err := a.Check(t.Context(), client); err == nil || !strings.Contains(err.Error(), "lacks spec") || tries != 11 {
				t.Errorf("%s: got %v after %d tries", resource, err, tries)
			}
		})
	}
}

func TestACheckThatCannotReadEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("no way")
		})
		a, _ := byHand(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := a.Check(ctx, client); err == nil || !strings.Contains(err.Error(), "reading pods") || !strings.Contains(err.Error(), "no way") {
			t.Errorf("got %v", err)
		}
	})
}

// The index and the keys stay right whatever a transform has left of a pod.
func TestAStrippedPodIsPassedOver(t *testing.T) {
	a, told := byHand(t)
	a.podEvents().OnAdd(aPod(withUID("")), false)
	a.podEvents().OnAdd(&v1.Pod{}, false)
	if got := told.take(); len(got) != 0 {
		t.Errorf("told %q", got)
	}
	if _, ok := a.sightings.get(types.UID("")); ok {
		t.Error("a pod without a UID was taken in")
	}
}
