package journal

import "k8s.io/apimachinery/pkg/util/resourceversion"

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
