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

// The model implements docs/semantics.md as simply as possible, and shares no code with the controller that it
// predicts. It records every observation of every node, and judges every pod again from all of them.

// model is the known state of the cluster at one moment of a history.
type model struct {
	comparison bool // the operators Lt and Gt count
	now        time.Duration
	nodes      map[string]*nodeSeen
	pods       map[string]*podSeen // by name, as no two pods have the same name at a time

	evicted map[types.UID]time.Duration
	moments []moment
}

// nodeSeen is one node, by UID, with all observations of its NoExecute taints.
type nodeSeen struct {
	uid   types.UID
	looks []look
}

type look struct {
	at     time.Duration
	taints []v1.Taint
}

// podSeen is the last observation of one pod, and when it was bound.
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

// passUntil evicts the pods that are due before a time.
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

// take applies a change, and records for each pod concerned how it looked before and after.
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

// takePod applies a change of a pod, if the pod still exists.
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

// listedNode returns a node that existed before the controllers: its timeAdded counts if it is plausible.
func listedNode(n *v1.Node) *nodeSeen {
	since := func(t v1.Taint) time.Duration {
		if t.TimeAdded == nil || t.TimeAdded.After(begin) || t.TimeAdded.Time.Before(n.CreationTimestamp.Time) {
			return 0
		}
		return min(nextSecond(t.TimeAdded.Time), 0) // set within this second: it started by now
	}
	seen := &nodeSeen{uid: n.UID}
	taints := noExecute(n)
	slices.SortFunc(taints, func(a, b v1.Taint) int { return cmp.Compare(since(a), since(b)) })
	for i, t := range taints {
		seen.looks = append(seen.looks, look{since(t), taints[:i+1]})
	}
	return seen
}

// listedBound returns when a pod was bound that existed before the controllers, which is not after they began.
func listedBound(p *v1.Pod) time.Duration {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionTrue {
			return min(nextSecond(c.LastTransitionTime.Time), 0)
		}
	}
	return min(nextSecond(p.CreationTimestamp.Time), 0)
}

// nextSecond returns the second after an API time, which is cut off.
func nextSecond(t time.Time) time.Duration { return t.Add(time.Second).Sub(begin) }

func noExecute(n *v1.Node) (list []v1.Taint) {
	for _, t := range n.Spec.Taints {
		if t.Effect == v1.TaintEffectNoExecute {
			list = append(list, t)
		}
	}
	return list
}

// life returns the identity of a taint: not-ready and unreachable count as one.
func life(t v1.Taint) string {
	if t.Key == v1.TaintNodeUnreachable {
		return v1.TaintNodeNotReady
	}
	return t.Key
}

// used returns the first toleration of the pod that matches the taint, or nil.
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

// forEver reports whether a toleration has no limit, or none before the year 10000.
func forEver(tol *v1.Toleration) bool {
	return tol != nil && (tol.TolerationSeconds == nil ||
		*tol.TolerationSeconds > 0 && *tol.TolerationSeconds/(366*24*3600) > 7999)
}
