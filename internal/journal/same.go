package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/taint-manager/taint-manager/taint"
)

// counts reports whether two taints count as one, perhaps with different values: they have the same effect, and the
// same key or both keys of the pair that the node lifecycle controller swaps.
func counts(a, b *v1.Taint) bool {
	return a.Effect == b.Effect && (a.Key == b.Key || swapped(a.Key) && swapped(b.Key))
}

func swapped(key string) bool {
	return key == v1.TaintNodeNotReady || key == v1.TaintNodeUnreachable
}

// find returns the history of the taint t, or nil.
func find(histories []taint.History, t *v1.Taint) taint.History {
	for _, h := range histories {
		if counts(&h[0].Taint, t) {
			return h
		}
	}
	return nil
}

// same reports whether two taints have the same key, value and effect.
func same(a, b *v1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}

// present returns the taint of the list with the same key, value and effect, or nil.
func present(taints []v1.Taint, t *v1.Taint) *v1.Taint {
	for i := range taints {
		if same(&taints[i], t) {
			return &taints[i]
		}
	}
	return nil
}

// standing reports whether the history has the taint in a state that has not ended.
func standing(states taint.History, t *v1.Taint) bool {
	return slices.ContainsFunc(states, func(s taint.State) bool { return !s.Ended && same(&s.Taint, t) })
}

// unchangedHistory reports whether two histories have equal states.
func unchangedHistory(a, b taint.History) bool {
	return slices.EqualFunc(a, b, func(a, b taint.State) bool {
		return a.Ended == b.Ended && a.Since.Equal(b.Since) && a.Relisted.Equal(b.Relisted) &&
			same(&a.Taint, &b.Taint) && a.Taint.TimeAdded.Equal(b.Taint.TimeAdded)
	})
}

// reaches reports whether one resourceVersion is certainly not older than the other.
func reaches(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order >= 0
}

// IsNewer reports whether one resourceVersion of a node is certainly newer than the other.
func IsNewer(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order > 0
}
