package dump

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wanted returns the kinds that are read.
func wanted() []metav1.TypeMeta {
	return []metav1.TypeMeta{
		{Kind: "Node", APIVersion: "v1"},
		{Kind: "Pod", APIVersion: "v1"},
		{Kind: "Event", APIVersion: "v1"},
		{Kind: "ConfigMap", APIVersion: "v1"},
		{Kind: "Namespace", APIVersion: "v1"},
		{Kind: "PodDisruptionBudget", APIVersion: "policy/v1"},
	}
}

// refused returns why an object that is not read must not be skipped either; "" if it may be skipped. Kinds of other
// groups may have the same names; these groups have a dot.
func (o *object) refused() string {
	group, _, _ := strings.Cut(o.APIVersion, "/")
	switch {
	case o.Kind == "Table" && group == metav1.GroupName:
		return "is a Table, which is for people and lacks most fields"
	case strings.Contains(group, "."):
		return ""
	case o.Kind == "Status":
		return "is a Status, the answer to a request that failed: " + strings.TrimSuffix(o.Message, ".")
	}
	for _, w := range wanted() {
		if strings.EqualFold(strings.TrimRight(o.Kind, "sS"), w.Kind) {
			return fmt.Sprintf("has apiVersion %q and kind %q; write apiVersion: %s, kind: %s", o.APIVersion, o.Kind,
				w.APIVersion, w.Kind)
		}
	}
	return ""
}
