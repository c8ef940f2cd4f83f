package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// The live confirmation compares the resourceVersions of a node. API servers promise that this is possible since
// Kubernetes 1.35 only.
func TestResourceVersionsOfANodeCanBeCompared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutScheduler: true})
	s := w.scene(t)
	previous := "1"
	for _, taint := range []string{"a", "b", "c"} {
		s.taint(taint)
		node, err := w.admin.CoreV1().Nodes().Get(t.Context(), s.node, metav1.GetOptions{})
		must(t, err)
		if order, err := resourceversion.CompareResourceVersion(previous, node.ResourceVersion); err != nil || order >= 0 {
			t.Errorf("resourceVersion %q against the later %q: order %d, error %v", previous, node.ResourceVersion, order, err)
		}
		previous = node.ResourceVersion
	}
}
