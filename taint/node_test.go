package taint_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/taint"
)

func TestATimeAddedOfZeroIsNone(t *testing.T) {
	zero, added := &metav1.Time{}, &metav1.Time{Time: time.Unix(1e9, 0)}
	given := []v1.Taint{{Key: "none"}, {Key: "zero", TimeAdded: zero}, {Key: "added", TimeAdded: added}}
	want := []v1.Taint{{Key: "none"}, {Key: "zero"}, {Key: "added", TimeAdded: added}}
	if diff := cmp.Diff(want, taint.Normalize(given)); diff != "" {
		t.Error(diff)
	}
	if given[1].TimeAdded != zero {
		t.Error("the taints given were changed: a caller may share them")
	}
}

func TestTaintsWithoutATimeAddedOfZeroAreNotCopied(t *testing.T) {
	given := []v1.Taint{{Key: "none"}, {Key: "added", TimeAdded: &metav1.Time{Time: time.Unix(1e9, 0)}}}
	if n := testing.AllocsPerRun(10, func() { taint.Normalize(given) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
