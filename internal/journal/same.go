package journal

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/taint-manager/taint-manager/taint"
)

// counts reports whether two taints count as one, whatever their values are: they have the same effect, and the same
// key or the keys not-ready and unreachable, which the node lifecycle controller swaps.
func counts(a, b *v1.Taint) bool {
	return a.Effect == b.Effect && (a.Key == b.Key || taint.ReportsOutage(a.Key) && taint.ReportsOutage(b.Key))
}

// same reports whether two taints have the same key, value and effect.
func same(a, b *v1.Taint) bool {
	return a.Key == b.Key && a.Value == b.Value && a.Effect == b.Effect
}

// present returns the taint of the list with the same key, value and effect, or nil.
func present(taints []v1.Taint, t *v1.Taint) *v1.Taint {
	i := slices.IndexFunc(taints, func(other v1.Taint) bool { return same(&other, t) })
	if i < 0 {
		return nil
	}
	return &taints[i]
}

// fingerprint returns a text that differs for different lists of taints.
func fingerprint(taints []v1.Taint) string {
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode(taints) // fails only for years that JSON cannot represent
	return fmt.Sprintf("%016x", h.Sum64())
}

// equalStates reports whether two histories have equal states for readers and in records.
func equalStates(a, b []TaintState) bool {
	return slices.EqualFunc(a, b, func(a, b TaintState) bool {
		return a.Ended == b.Ended && a.Since.Equal(b.Since) && a.Relisted.Equal(b.Relisted) &&
			same(&a.Taint, &b.Taint) && a.TimeAdded.Equal(b.TimeAdded)
	})
}

// Reaches reports whether version, a resourceVersion, is certainly not older than other.
func Reaches(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order >= 0
}

// IsNewer reports whether version, a resourceVersion, is certainly newer than other.
func IsNewer(version, other string) bool {
	return Reaches(version, other) && !Reaches(other, version)
}
