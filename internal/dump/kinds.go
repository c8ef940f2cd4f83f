package dump

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wantedKind is a kind that is read, with kubectl's short name of it.
type wantedKind struct{ apiVersion, kind, short string }

// wanted returns the kinds that are read.
func wanted() []wantedKind {
	return []wantedKind{
		{"v1", "Node", "no"},
		{"v1", "Pod", "po"},
		{"v1", "Event", "ev"},
		{"v1", "ConfigMap", "cm"},
		{"v1", "Namespace", "ns"},
		{"policy/v1", "PodDisruptionBudget", "pdb"},
	}
}

// foreign reports whether an apiVersion is that of another group than those of the kinds that are read, which have no
// dot. Kinds of such groups may have any name.
func foreign(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return strings.Contains(group, ".")
}

// refused returns why an object that is not read must not be skipped either; "" if it may be skipped.
func (o *object) refused() string {
	switch forPeople := strings.HasPrefix(o.APIVersion, metav1.GroupName+"/"); {
	case forPeople && o.Kind == "Table":
		return "is a Table, which is for people and lacks most fields"
	case forPeople && strings.HasPrefix(o.Kind, "PartialObjectMetadata"):
		return "is a PartialObjectMetadata, which lacks most fields"
	case foreign(o.APIVersion):
		return ""
	case o.Kind == "Status" && o.Message == "":
		return "is a Status, the answer to a request that failed"
	case o.Kind == "Status":
		return "is a Status, the answer to a request that failed: " + strings.TrimSuffix(o.Message, ".")
	case isList(o.APIVersion, o.Kind):
		return "is a " + o.Kind + ` without "items"`
	}
	for _, w := range wanted() {
		if w.resembles(o.Kind) {
			return fmt.Sprintf("has apiVersion %q and kind %q; write apiVersion: %s, kind: %s", o.APIVersion, o.Kind,
				w.apiVersion, w.kind)
		}
	}
	return ""
}

// resembles reports whether the kind may be meant by a name that differs from it: by its short name, the plural, or a
// letter or two.
func (w *wantedKind) resembles(name string) bool {
	name, kind := strings.ToLower(name), strings.ToLower(w.kind)
	singular := strings.TrimRight(name, "s")
	if name == w.short || singular == w.short {
		return true
	}
	return edits(singular, kind) <= 1+len(kind)/8
}

// edits returns how many letters are to be inserted, removed or replaced to make one word of the other.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal, row[j+1] = row[j+1], min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
