package differential

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The model reads docs/semantics.md as plainly as it can, and shares no code with what it is to predict.
// It writes down every look at every node, and judges every pod anew from all of them.

// model is the cluster as it is known at one moment of a history.
type model struct {
	comparison bool // the operators Lt and Gt count
	now        time.Duration
	nodes      map[string]*nodeSeen
	pods       map[string]*podSeen // by name, as no two have one at a time

	evicted map[types.UID]time.Duration
	moments []moment
}

// nodeSeen is one node, by UID, and all looks at its taints, of which only NoExecute ones are kept.
type nodeSeen struct {
	uid   types.UID
	looks []look
}

type look struct {
	at     time.Duration
	taints []v1.Taint
}

// podSeen is one pod as it was last seen, and since when it is bound.
type podSeen struct {
	*v1.Pod
	bound time.Duration
}

// predict plays a history. A pod without a time stays.
func predict(h *history, comparison bool) *model {
	m := &model{
		comparison: comparison, nodes: map[string]*nodeSeen{}, pods: map[string]*podSeen{},
		evicted: map[types.UID]time.Duration{},
	}
	for _, n := range h.nodes {
		m.nodes[n.Name] = listedNode(n)
	}
	for _, p := range h.pods {
		m.pods[p.Name] = &podSeen{p, listedBound(p)}
		m.moments = append(m.moments, moment{listed: true, after: m.view(p.Name)})
	}
	for _, c := range h.changes {
		m.passUntil(c.at)
		m.take(c)
	}
	m.passUntil(h.end)
	return m
}

// passUntil evicts who is due before a moment.
func (m *model) passUntil(end time.Duration) {
	for name, p := range m.pods {
		v := m.view(name)
		if at := max(v.deadline(), m.now); v.runs() && !v.spared() && at < end {
			m.evicted[p.UID] = at
			delete(m.pods, name)
		}
	}
	m.now = end
}

// take takes a change in, and keeps how it looked before and after to each pod that it is about.
func (m *model) take(c change) {
	names := slices.Sorted(maps.Keys(m.pods))
	if c.pod != nil {
		names = []string{c.pod.Name}
	}
	before := make([]view, len(names))
	for i, name := range names {
		before[i] = m.view(name)
	}
	if c.node != nil {
		m.takeNode(c)
	} else if !m.takePod(c) {
		return
	}
	for i, name := range names {
		m.moments = append(m.moments, moment{at: m.now, before: before[i], after: m.view(name)})
	}
}

func (m *model) takeNode(c change) {
	name := c.node.Name
	if c.verb != updated {
		delete(m.nodes, name)
	}
	if c.verb == deleted {
		return
	}
	if m.nodes[name] == nil {
		m.nodes[name] = &nodeSeen{uid: c.node.UID}
	}
	n := m.nodes[name]
	n.looks = append(n.looks, look{m.now, noExecute(c.node)})
}

// takePod takes in a change of a pod, if the pod is still there.
func (m *model) takePod(c change) bool {
	old := m.pods[c.pod.Name]
	same := old != nil && old.UID == c.pod.UID
	switch {
	case c.verb == deleted && same:
		delete(m.pods, c.pod.Name)
	case c.verb == updated && same:
		bound := old.bound
		if old.Spec.NodeName == "" {
			bound = m.now
		}
		m.pods[c.pod.Name] = &podSeen{c.pod, bound}
	case c.verb == created || c.verb.replaces():
		m.pods[c.pod.Name] = &podSeen{c.pod, m.now}
	default:
		return false
	}
	return true
}

// listedNode is a node that was there before: its timeAdded counts where it can be believed.
func listedNode(n *v1.Node) *nodeSeen {
	since := func(t v1.Taint) time.Duration {
		if t.TimeAdded == nil || t.TimeAdded.After(begin) || t.TimeAdded.Time.Before(n.CreationTimestamp.Time) {
			return 0
		}
		return min(nextSecond(t.TimeAdded.Time), 0) // set within this second: it is there now
	}
	seen := &nodeSeen{uid: n.UID}
	taints := noExecute(n)
	slices.SortFunc(taints, func(a, b v1.Taint) int { return cmp.Compare(since(a), since(b)) })
	for i, t := range taints {
		seen.looks = append(seen.looks, look{since(t), taints[:i+1]})
	}
	return seen
}

// listedBound is since when a pod is bound that was there before.
func listedBound(p *v1.Pod) time.Duration {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionTrue {
			return nextSecond(c.LastTransitionTime.Time)
		}
	}
	return nextSecond(p.CreationTimestamp.Time)
}

// nextSecond is the second after an API time, which is cut off.
func nextSecond(t time.Time) time.Duration { return t.Add(time.Second).Sub(begin) }

func noExecute(n *v1.Node) (list []v1.Taint) {
	for _, t := range n.Spec.Taints {
		if t.Effect == v1.TaintEffectNoExecute {
			list = append(list, t)
		}
	}
	return list
}

// life is what a taint is known by: not-ready and unreachable count as one.
func life(t v1.Taint) string {
	if t.Key == v1.TaintNodeUnreachable {
		return v1.TaintNodeNotReady
	}
	return t.Key
}

// used is the first toleration of the pod that matches the taint, or nil.
func (m *model) used(p *v1.Pod, t v1.Taint) *v1.Toleration {
	for i := range p.Spec.Tolerations {
		if m.matches(p.Spec.Tolerations[i], t) {
			return &p.Spec.Tolerations[i]
		}
	}
	return nil
}

func (m *model) matches(tol v1.Toleration, t v1.Taint) bool {
	if tol.Key != "" && tol.Key != t.Key || tol.Effect != "" && tol.Effect != t.Effect {
		return false
	}
	limit, noLimit := strconv.ParseInt(tol.Value, 10, 64)
	value, noValue := strconv.ParseInt(t.Value, 10, 64)
	numbers := m.comparison && noLimit == nil && noValue == nil
	switch tol.Operator {
	case v1.TolerationOpExists:
		return true
	case v1.TolerationOpGt:
		return numbers && value > limit
	case v1.TolerationOpLt:
		return numbers && value < limit
	}
	return tol.Value == t.Value
}

// forEver says whether a toleration has no limit, or none before the year 10000.
func forEver(tol *v1.Toleration) bool {
	return tol != nil && (tol.TolerationSeconds == nil ||
		*tol.TolerationSeconds > 0 && *tol.TolerationSeconds/(366*24*3600) > 7999)
}
