package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// The answers to the PATCH of a condition and to the dry run of a DELETE have the pod's generation, by which an edit that
// the watch has not shown yet keeps the pod. The beginning of a deletion counts as an edit in the answer to a dry run,
// although the dry run edits nothing.
func TestTheAnswersOfTheAPIServerShowWhetherAPodWasEdited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.since(t, 33, "generation of pods")
	s := w.scene(t)
	api := evict.NewAPI(w.admin, evict.APIOptions{Method: policy.Delete, Leading: func() bool { return true }})
	for _, grace := range []int64{0, 30} {
		for _, preflight := range []bool{false, true} {
			for _, edited := range []bool{false, true} {
				name := strings.ToLower(fmt.Sprintf("p-%d-%t-%t", grace, preflight, edited))
				p := s.podWith(name, func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = &grace })
				known := cluster.PodOf(p, time.Now())
				if edited {
					s.add(p, exists("key"))
				}
				o := api.Evict(t.Context(), eviction.Request{Pod: &known, Verdict: taint.Verdict{Node: s.node}, AfterRefusal: preflight})
				if (o.Kind == eviction.Accepted) == edited || edited && o.Kind != eviction.Unconfirmed {
					t.Errorf("%s: got %+v", name, o)
				}
				if _, gone := w.deletion(t, p.UID, time.Now()); edited && gone {
					t.Errorf("%s is gone", name)
				}
			}
		}
	}
}

// add adds a toleration to a pod.
func (s *scene) add(pod *v1.Pod, toleration v1.Toleration) {
	s.Helper()
	until(s, "the toleration is added", func() bool {
		now, err := s.admin.CoreV1().Pods("default").Get(s.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			return false
		}
		now.Spec.Tolerations = append(now.Spec.Tolerations, toleration)
		_, err = s.admin.CoreV1().Pods("default").Update(s.Context(), now, metav1.UpdateOptions{})
		return err == nil
	})
}
