package policy

import (
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/taint-manager/taint-manager/taint"
)

// Kinds of owners that have a meaning of their own.
const (
	daemonSet = "DaemonSet"
	noOwner   = "None"
)

// fits reports whether the policy matches the pair. waiting means that the answer depends on the labels of the
// namespace, which are not known yet. Cheap conditions come first.
func (c *compiled) fits(p *pair) (fits, waiting bool) {
	m := &c.Match
	if !m.names(p.taint) || !m.inNamespace(p.pod.Namespace) || !m.Priority.includes(p.pod.Priority) || !m.owns(p) ||
		!c.pods.Matches(labels.Set(p.pod.Labels)) || !c.nodes.Matches(labels.Set(p.node.Labels)) {
		return false, false
	}
	if c.namespaces.Empty() {
		return true, false
	}
	if p.facts.Namespaces == nil {
		return true, true
	}
	set, known := p.facts.Namespaces(p.pod.Namespace)
	return !known || c.namespaces.Matches(labels.Set(set)), !known
}

// anyTaint is the default of Match.Taints: all taints of effect NoExecute except out-of-service, which a match must
// name by its exact key.
var anyTaint = []Taint{{}}

// taints returns the taints that the match includes.
func (m *Match) taints() []Taint {
	if len(m.Taints) == 0 {
		return anyTaint
	}
	return m.Taints
}

// names reports whether the match includes the taint.
func (m *Match) names(of *v1.Taint) bool {
	return slices.ContainsFunc(m.taints(), func(t Taint) bool { return t.names(of) })
}

func (t *Taint) names(of *v1.Taint) bool {
	return KeyPattern{t.Key, t.KeyPrefix}.selects(of.Key) &&
		(len(t.Values) == 0 || slices.Contains(t.Values, of.Value)) && t.hasEffect(of.Effect)
}

// hasEffect reports whether t selects taints of this effect. If t gives no effects, it selects NoExecute only.
func (t *Taint) hasEffect(effect v1.TaintEffect) bool {
	if len(t.Effects) == 0 {
		return effect == v1.TaintEffectNoExecute
	}
	return slices.Contains(t.Effects, effect)
}

func (m *Match) inNamespace(name string) bool {
	return len(m.Namespaces) == 0 || slices.ContainsFunc(m.Namespaces, func(pattern string) bool {
		matches, _ := path.Match(pattern, name) // neither has a slash
		return matches
	})
}

// includes reports whether the priority is in the range; nil includes all.
func (p *PriorityRange) includes(priority int32) bool {
	return p == nil || (p.Min == nil || *p.Min <= priority) && (p.Max == nil || priority <= *p.Max)
}

// owns reports whether the match includes the pod's owner. For a taint of effect NoSchedule, the match includes pods of
// DaemonSets and pods without a controller only if it names them: the former would return to the node, and the latter
// would not return at all.
func (m *Match) owns(p *pair) bool {
	owner := ownerOf(p.pod)
	return m.ownsKind(owner.Kind, owner.Group, p.taint.Effect)
}

func (m *Match) ownsKind(kind, group string, effect v1.TaintEffect) bool {
	if len(m.OwnerKinds) == 0 {
		return effect != v1.TaintEffectNoSchedule || kind != daemonSet && kind != noOwner
	}
	return slices.ContainsFunc(m.OwnerKinds, func(of string) bool {
		name, in, grouped := strings.Cut(of, ".")
		return name == kind && (!grouped || in == group)
	})
}

// ownerOf returns the controller of a pod; its kind is None for a pod without one.
func ownerOf(pod *taint.Pod) taint.Owner {
	if pod.Controller == nil {
		return taint.Owner{Kind: noOwner}
	}
	return *pod.Controller
}

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

// NodesSelected returns a function that reports whether the selector matches a node's labels; nil matches all.
func NodesSelected(s *metav1.LabelSelector) func(of map[string]string) bool {
	selector := newSelector(s)
	return func(of map[string]string) bool { return selector.Matches(labels.Set(of)) }
}
