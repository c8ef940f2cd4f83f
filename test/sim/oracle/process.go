package oracle

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// How is the way in which a process was shown something.
type How int

// The ways.
const (
	Watched     How = iota // an event of a watch that has missed nothing
	FirstListed            // the first list of the process
	Relisted               // a list after a watch that could not resume
)

// nodeView is what a process knows of a node.
type nodeView struct {
	node    *v1.Node
	version int64 // the latest that was shown
	changed int64 // the latest that showed a change of the taints
	lives   []*life
	since   map[string]time.Duration // since when it has been shown with a taint, by the taint's group
}

// podView is what a process knows of a pod.
type podView struct {
	pod   *v1.Pod
	gone  bool // it has left the view
	bound span // bounds of the moment from which it counts as bound

	notBefore time.Duration // no further call before
	arrived   int           // DELETEs of this process that the API server has accepted
	lost      int           // accepted ones whose answers never reached the process
	accepted  bool          // the process got the answer to one
}

// Process is one run of a manager's process, from its start to its end.
type Process struct {
	Name string

	oracle  *Oracle
	nodes   []*nodeView
	pods    []*podView // all that were ever in view, the latest last
	watched time.Duration

	reached int64 // up to which version it knows all nodes

	listedNodes, listedPods bool

	ahead time.Duration // how far its wall clock is ahead of the API server's
}

// Started records that a process has started, whose wall clock is ahead of the true time by that much.
func (o *Oracle) Started(name string, ahead time.Duration) *Process {
	p := &Process{Name: name, oracle: o, watched: none, ahead: ahead - o.ServerAhead}
	o.processes = append(o.processes, p)
	return p
}

// Nodes returns the nodes as the process was shown them last.
func (p *Process) Nodes() (all []*v1.Node) {
	for _, k := range p.nodes {
		all = append(all, k.node)
	}
	return all
}

// ClockSet records that the wall clock of the process was set.
func (p *Process) ClockSet(ahead time.Duration) { p.ahead = ahead - p.oracle.ServerAhead }

func (p *Process) view(at time.Duration, how How) *view {
	v := &view{
		at: at, how: how, skew: p.skew(), watched: none,
		zero: time.Duration(p.oracle.Epoch.Unix())*time.Second + p.oracle.ServerAhead,
	}
	if how == Relisted {
		v.watched, v.reached = p.watched, p.reached
	}
	return v
}

// WatchedNode records that the node watch has shown a node; if gone is set, n is its last version.
func (p *Process) WatchedNode(at time.Duration, n *v1.Node, gone bool) {
	p.watched, p.reached = at, max(p.reached, number(n.ResourceVersion))
	if gone {
		p.nodes = slices.DeleteFunc(p.nodes, func(k *nodeView) bool { return k.node.Name == n.Name })
		return
	}
	p.nodeShown(at, n, Watched)
}

// ListedNodes records that the process was shown all existing nodes, as they were at that version.
func (p *Process) ListedNodes(at time.Duration, all []*v1.Node, version int64, how How) {
	p.nodes = slices.DeleteFunc(p.nodes, func(k *nodeView) bool {
		return !slices.ContainsFunc(all, func(n *v1.Node) bool { return n.Name == k.node.Name })
	})
	for _, n := range all {
		p.nodeShown(at, n, how)
	}
	p.watched, p.reached, p.listedNodes = at, max(p.reached, version), true
}

func (p *Process) nodeShown(at time.Duration, n *v1.Node, how How) {
	k, v := p.node(n.Name), p.view(at, how)
	version := number(n.ResourceVersion)
	if k == nil {
		k = &nodeView{node: &v1.Node{}}
		p.nodes = append(p.nodes, k)
	}
	if k.node.UID != n.UID {
		*k = nodeView{node: &v1.Node{}, changed: version, since: k.since}
	}
	before := k.version
	v.now, v.before = n, k.node.Spec.Taints
	k.node, k.version = n, version
	if p.observe(k, v, before) {
		k.changed = version
	}
	k.noteSince(v)
}

// noteSince notes since when the node has been shown with its taints: those of a first list since the beginning of the
// world, because a breaker that finds taints at its start has nothing to wait for.
func (n *nodeView) noteSince(v *view) {
	before := n.since
	n.since = map[string]time.Duration{}
	for _, l := range n.lives {
		since, is := before[l.group]
		if !is && v.how != FirstListed {
			since = v.at
		}
		n.since[l.group] = since
	}
}

// ShownSince returns the earliest time since which a process has always been shown the node with a taint of this key.
func (o *Oracle) ShownSince(node, key string) time.Duration {
	first := Far
	for _, p := range o.processes {
		if k := p.node(node); k != nil {
			if since, is := k.since[group(key)]; is {
				first = min(first, since)
			}
		}
	}
	return first
}

// observe updates the known lives of a node's taints by the node as it is shown now.
func (p *Process) observe(k *nodeView, v *view, before int64) (changed bool) {
	var lives []*life
	for i := range k.node.Spec.Taints {
		t := &k.node.Spec.Taints[i]
		if t.Effect != v1.TaintEffectNoExecute || lifeIn(lives, group(t.Key)) != nil {
			continue
		}
		l, isNew := p.carryOn(k, v, before, group(t.Key))
		changed = changed || isNew
		lives = append(lives, l)
	}
	// The program treats another order as a change, which does no harm.
	sameOrder := slices.EqualFunc(lives, k.lives, func(a, b *life) bool { return a.group == b.group })
	k.lives = lives
	return changed || !sameOrder
}

// carryOn returns the life of the taint, updated by the node as it is shown now.
func (p *Process) carryOn(k *nodeView, v *view, before int64, g string) (l *life, changed bool) {
	l = lifeIn(k.lives, g)
	if l != nil && v.how != Watched {
		l = p.afterGap(l, k, v, before)
	}
	if l == nil {
		l = &life{group: g, absentAt: before}
		if v.how != Watched {
			l.foundIn, l.foundBy = k.node, v.at
		}
	}
	if changed = p.take(l, k, v); changed && l.total > kept && p.anyTellsApart(k.node.Name, l) {
		l.dropped = true
		p.oracle.Seen["Forgotten"]++
	}
	return l, changed
}

// afterGap returns the remaining life after a gap; nil if the taint is a new one.
func (p *Process) afterGap(l *life, k *nodeView, v *view, before int64) *life {
	may, must := l.continues(of(k.node.Spec.Taints, l.group), v)
	switch {
	case !may:
		p.oracle.Seen["Renewed"]++
		return nil
	case p.oracle.nodes[k.node.UID].absentAt(before, k.version, l.group) > 0:
		p.oracle.Seen["OneByException"]++
	}
	if l.gap == 0 {
		l.gap = before
	}
	if !must {
		l.doubt(v.at, later(v.at, p.recordedAt().hi))
	}
	return l
}

// begin bounds the start of a taint that was absent when the node was shown last. The true moment is the lower bound.
// After a gap, timeAdded counts unless it is in the future or before the node's creation (docs/semantics.md, "When
// a taint was set"). So a wrong timeAdded, and a clock that is ahead, may make the start earlier.
func (p *Process) begin(k *nodeView, v *view, t *v1.Taint) span {
	lo := p.oracle.nodes[k.node.UID].setAt(k.version, t)
	if w := written(v.now); v.how == Relisted && t.TimeAdded == nil && w != nil {
		if may, _ := v.rewritten(); may { // docs/journal.md: then it counts from this time, which may be too early
			lo = min(lo, v.moment(w.Unix()).lo)
		}
	}
	start := span{lo, v.at}
	if v.how == Watched || t.TimeAdded == nil || t.TimeAdded.Time.Before(k.node.CreationTimestamp.Time) {
		return start
	}
	added, may, must := v.counts(t.TimeAdded.Unix())
	if may {
		start.lo = min(lo, added.lo)
	}
	if must && v.how == FirstListed {
		start.hi = min(v.at, added.hi)
	}
	return start
}

// anyTellsApart reports whether a pod on the node may distinguish states of the life, by what the process knows. As
// long as not all pods are known, one may.
func (p *Process) anyTellsApart(node string, l *life) bool {
	return !p.listedNodes || !p.listedPods || slices.ContainsFunc(p.pods, func(s *podView) bool {
		return !s.gone && s.pod.Spec.NodeName == node && l.apart(s.pod.Spec.Tolerations)
	})
}

// WatchedPod records that the pod watch has shown a pod that is bound; if gone is set, the pod no longer is.
func (p *Process) WatchedPod(at time.Duration, pod *v1.Pod, gone bool) {
	if s := p.pod(pod.UID); gone && s != nil {
		s.gone = true
	} else if !gone {
		p.podShown(at, pod, Watched)
	}
}

// ListedPods records that the process was shown all pods that are bound.
func (p *Process) ListedPods(at time.Duration, all []*v1.Pod, how How) {
	for _, s := range p.pods {
		s.gone = s.gone || !slices.ContainsFunc(all, func(pod *v1.Pod) bool { return pod.UID == s.pod.UID })
	}
	for _, pod := range all {
		p.podShown(at, pod, how)
	}
	p.listedPods = true
}

func (p *Process) podShown(at time.Duration, pod *v1.Pod, how How) {
	if s := p.pod(pod.UID); s != nil {
		s.pod = pod
		return
	}
	p.pods = append(p.pods, &podView{pod: pod, bound: p.boundOf(at, pod, how)})
}

// boundOf bounds the moment from which a pod counts as bound. docs/semantics.md, "When a countdown starts": a pod
// was bound when the process saw it bound; for a pod that was there before, when it was scheduled (the condition
// PodScheduled), else when it was created. So without that condition it may count from before its binding.
func (p *Process) boundOf(at time.Duration, pod *v1.Pod, how How) span {
	lo, hi := p.oracle.pod(pod.UID).bound, at
	if how != FirstListed {
		return span{lo, hi}
	}
	stamp := pod.CreationTimestamp.Time
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionTrue {
			stamp = c.LastTransitionTime.Time
		}
	}
	bound, may, must := p.view(at, how).counts(stamp.Unix())
	switch {
	case must:
		hi = bound.hi
	case may:
		hi = max(at, bound.hi)
	}
	if may {
		lo = min(lo, bound.lo)
	}
	return span{min(lo, hi), hi}
}

func (p *Process) node(name string) *nodeView {
	return lastOf(p.nodes, func(k *nodeView) bool { return k.node.Name == name })
}

// pod returns what is known of a pod in view; nil if it is not in view.
func (p *Process) pod(uid types.UID) *podView {
	if s := p.ever(uid); s != nil && !s.gone {
		return s
	}
	return nil
}

// ever returns what is known of a pod, in view or not.
func (p *Process) ever(uid types.UID) *podView {
	return lastOf(p.pods, func(s *podView) bool { return s.pod.UID == uid })
}

func lifeIn(lives []*life, g string) *life {
	return lastOf(lives, func(l *life) bool { return l.group == g })
}
