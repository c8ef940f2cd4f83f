package policy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// newSelector compiles a selector that is valid; nil selects all.
func newSelector(s *metav1.LabelSelector) labels.Selector {
	if selector, err := metav1.LabelSelectorAsSelector(s); s != nil && err == nil {
		return selector
	}
	return labels.Everything()
}

// keysOf returns the keys of the labels that the selector reads.
func keysOf(s labels.Selector) (keys []string) {
	requirements, _ := s.Requirements()
	for i := range requirements {
		keys = append(keys, requirements[i].Key())
	}
	return keys
}

// NodesSelected returns the function that reports whether a node with these labels is selected; nil selects all.
func NodesSelected(s *metav1.LabelSelector) func(of map[string]string) bool {
	selector := newSelector(s)
	return func(of map[string]string) bool { return selector.Matches(labels.Set(of)) }
}
