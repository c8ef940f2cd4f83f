package foresight_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/foresight"
)

func TestPendingSaysWhyTheOtherPodsAreOnTheirNode(t *testing.T) {
	kept := func(finalizer string) func(*v1.Pod) { return func(p *v1.Pod) { p.Finalizers = []string{finalizer} } }
	mirror := func(p *v1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, v1.MirrorPodAnnotationKey, "x") }
	for _, c := range []struct {
		name    string
		pod     *v1.Pod
		deleted bool // the node
		want    foresight.Standing
	}{
		{"succeeded", pod("a", in(v1.PodSucceeded)), false, foresight.Finished},
		{"failed", pod("a", in(v1.PodFailed)), false, foresight.Finished},
		{"finished, with the finalizer of its Job", pod("a", in(v1.PodSucceeded), kept(batchv1.JobTrackingFinalizer)), false, foresight.Finished},
		{"finished, with another finalizer", pod("a", in(v1.PodSucceeded), kept("example.com/keep")), false, foresight.Kept},
		{"finished and deleted, with a finalizer", pod("a", in(v1.PodSucceeded), deleted, kept("example.com/keep")), false, foresight.Terminating},
		{"a mirror pod", pod("a", mirror), false, foresight.Mirror},
		{"a DaemonSet's", pod("a", ownedBy("DaemonSet/agent"), tolerates("", -1)), false, foresight.OfDaemonSet},
		{"tolerating", pod("a", tolerates("gpu", -1)), false, foresight.Tolerating},
		{"on a node without taints", pod("a", on("n2")), false, foresight.Unaffected},
		{"on a node that was deleted", pod("a"), true, foresight.Orphaned},
	} {
		m := modelOf(foresight.Focus{}, node("n1", timed("gpu:NoExecute", -5)), node("n2"), c.pod)
		if c.deleted {
			m.Remove(node("n1"))
		}
		p := m.Pending(noon, []string{"n1", "n2"})
		if len(p.Others) != 1 || p.Others[0].Standing != c.want || len(p.Pods) > 0 {
			t.Errorf("%s: %+v, to go: %+v", c.name, p.Others, p.Pods)
		}
	}
}
