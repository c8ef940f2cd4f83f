package policy

import (
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/taint-manager/taint-manager/taint"
)

// Kinds of owners that have a meaning of their own.
const (
	daemonSet = "DaemonSet"
	noOwner   = "None"
)

// matcher is the compiled form of a Match.
type matcher struct {
	taints          []Taint
	nodes           labels.Selector
	namespaces      []string // none: all
	namespaceLabels labels.Selector
	pods            labels.Selector
	owners          []string // none: all
	priority        PriorityRange
}

// fit is the result of matching a policy with a pair.
type fit uint8

const (
	fitsNot fit = iota
	fits
	fitsPerhaps // if the labels of the pod's namespace match, which are not known yet
)

func newMatcher(m *Match) matcher {
	c := matcher{
		taints: m.Taints, nodes: newSelector(m.NodeSelector), namespaces: m.Namespaces,
		namespaceLabels: newSelector(m.NamespaceSelector), pods: newSelector(m.PodSelector), owners: m.OwnerKinds,
	}
	if m.Priority != nil {
		c.priority = *m.Priority
	}
	return c
}

// fits evaluates cheap conditions first, and the labels of the namespace last.
func (m *matcher) fits(p *pair) fit {
	if !m.names(p.taint) || !m.inNamespace(p.pod.Namespace) || !m.inPriority(p.pod.Priority) || !m.owns(p) ||
		!m.pods.Matches(labels.Set(p.pod.Labels)) || !m.nodes.Matches(labels.Set(p.node.Labels)) {
		return fitsNot
	}
	if m.namespaceLabels.Empty() {
		return fits
	}
	if p.facts.Namespaces == nil {
		return fitsPerhaps
	}
	set, known := p.facts.Namespaces(p.pod.Namespace)
	switch {
	case !known:
		return fitsPerhaps
	case m.namespaceLabels.Matches(labels.Set(set)):
		return fits
	}
	return fitsNot
}

// names reports whether the match includes the taint. Without any taints, it includes all of effect NoExecute except
// out-of-service, which only its exact key matches.
func (m *matcher) names(t *v1.Taint) bool {
	if len(m.taints) == 0 {
		return t.Effect == v1.TaintEffectNoExecute && t.Key != v1.TaintNodeOutOfService
	}
	for i := range m.taints {
		if m.taints[i].names(t) {
			return true
		}
	}
	return false
}

func (t *Taint) names(of *v1.Taint) bool {
	if t.Key != "" && t.Key != of.Key {
		return false
	}
	if t.Key == "" && (!strings.HasPrefix(of.Key, t.KeyPrefix) || of.Key == v1.TaintNodeOutOfService) {
		return false
	}
	if len(t.Values) > 0 && !slices.Contains(t.Values, of.Value) {
		return false
	}
	if len(t.Effects) == 0 {
		return of.Effect == v1.TaintEffectNoExecute
	}
	return slices.Contains(t.Effects, of.Effect)
}

func (m *matcher) inNamespace(name string) bool {
	if len(m.namespaces) == 0 {
		return true
	}
	for _, pattern := range m.namespaces {
		if matches, _ := path.Match(pattern, name); matches { // neither has a slash
			return true
		}
	}
	return false
}

func (m *matcher) inPriority(p int32) bool {
	return (m.priority.Min == nil || *m.priority.Min <= p) && (m.priority.Max == nil || p <= *m.priority.Max)
}

// owns reports whether the match includes the pod's owner. For a taint of effect NoSchedule, it includes pods of
// DaemonSets, which would return to the node, and pods without a controller, which would not return, only if it
// names them.
func (m *matcher) owns(p *pair) bool {
	kind := ownerKindOf(p.pod)
	if len(m.owners) > 0 {
		return slices.Contains(m.owners, kind)
	}
	return p.taint.Effect != v1.TaintEffectNoSchedule || kind != daemonSet && kind != noOwner
}

func ownerKindOf(pod *taint.Pod) string {
	if pod.Controller == nil {
		return noOwner
	}
	return pod.Controller.Kind
}
