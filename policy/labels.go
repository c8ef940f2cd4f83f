package policy

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// selector is a label selector in a form that is fast to evaluate, because a pair is compared with each policy. All
// requirements must hold; nil selects all.
type selector []requirement

// requirement restricts one label.
type requirement struct {
	key    string
	in     []string // the values; any value if it is nil
	absent bool     // the label may be missing
	not    bool     // the values, or any value, are not allowed
}

// newSelector compiles a selector that is valid.
func newSelector(s *metav1.LabelSelector) selector {
	if s == nil {
		return nil
	}
	var all selector
	for key, value := range s.MatchLabels {
		all = append(all, requirement{key: key, in: []string{value}})
	}
	for _, e := range s.MatchExpressions {
		r := requirement{key: e.Key, in: e.Values}
		if e.Operator == metav1.LabelSelectorOpNotIn || e.Operator == metav1.LabelSelectorOpDoesNotExist {
			r.absent, r.not = true, true
		}
		all = append(all, r)
	}
	return all
}

// selects reports whether all requirements hold.
func (s selector) selects(labels map[string]string) bool {
	for i := range s {
		if !s[i].holds(labels) {
			return false
		}
	}
	return true
}

func (r *requirement) holds(labels map[string]string) bool {
	value, there := labels[r.key]
	if !there {
		return r.absent
	}
	return (len(r.in) == 0 || slices.Contains(r.in, value)) != r.not
}

// keys returns the keys of the labels that the selector reads.
func (s selector) keys() (list []string) {
	for i := range s {
		list = append(list, s[i].key)
	}
	return list
}
