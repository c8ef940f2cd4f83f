package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// The live confirmation relies on two properties of the answers of an API server.
func TestTheAnswersOfTheAPIServerShowWhatTheConfirmationReliesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutScheduler: true})
	t.Run("versions of a node can be compared", func(t *testing.T) { comparesVersions(w.scene(t)) })
	t.Run("an edit of a pod shows", func(t *testing.T) { showsEdits(w.scene(t)) })
}

// API servers promise since Kubernetes 1.35 only that resourceVersions can be compared.
func comparesVersions(s *scene) {
	previous := "1"
	for _, taint := range []string{"a", "b", "c"} {
		s.taint(taint)
		node, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
		must(s, err)
		if order, err := resourceversion.CompareResourceVersion(previous, node.ResourceVersion); err != nil || order >= 0 {
			s.Errorf("resourceVersion %q against the later %q: order %d, error %v", previous, node.ResourceVersion, order, err)
		}
		previous = node.ResourceVersion
	}
}

// The answers to the PATCH of a condition and to the dry run of a DELETE have the pod's generation, by which an edit that
// the watch has not shown yet keeps the pod. The beginning of a deletion counts as an edit in the answer to a dry run,
// although the dry run edits nothing.
func showsEdits(s *scene) {
	s.since(s, 33, "generation of pods")
	api := evict.NewAPI(s.admin, evict.APIOptions{Method: policy.Delete, Leading: func() bool { return true }})
	for _, grace := range []int64{0, 30} {
		for _, preflight := range []bool{false, true} {
			for _, edited := range []bool{false, true} {
				name := strings.ToLower(fmt.Sprintf("p-%d-%t-%t", grace, preflight, edited))
				p := s.podWith(name, func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = &grace })
				known := cluster.PodOf(p, time.Now())
				if edited {
					s.edit(p.Name, func(p *v1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, exists("key")) })
				}
				o := api.Evict(s.Context(), eviction.Request{Pod: &known, Verdict: taint.Verdict{Node: s.node}, AfterRefusal: preflight})
				if (o.Kind == eviction.Accepted) == edited || edited && o.Kind != eviction.Unconfirmed {
					s.Errorf("%s: got %+v", name, o)
				}
				if _, gone := s.deletion(s, p.UID, time.Now()); edited && gone {
					s.Errorf("%s is gone", name)
				}
			}
		}
	}
}
