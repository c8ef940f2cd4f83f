package oracle

import (
	"math"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kept is the number of states of a taint that the journal keeps (docs/semantics.md, "When a taint was set").
const kept = 8

// standing is the end of a state that has not ended.
const standing = math.MaxInt

// state is a taint with one value, as a process was shown it, with the bounds of its start.
type state struct {
	pair
	span                  // bounds of its start
	added    *metav1.Time // its timeAdded, as last shown
	recorded span         // bounds of its start as it is recorded, by the API server's clock
	from, to int          // the steps of the life at which the state was present: from ≤ step < to
	seen     bool         // the process saw it appear
}

// pair is the key and the value of a taint.
type pair struct{ key, value string }

func pairOf(t *v1.Taint) pair { return pair{t.Key, t.Value} }

// life is one presence of a taint on one node: the time during which a process has to consider this presence unbroken.
type life struct {
	group    string // of the taint, as the function group returns it
	states   []state
	heard    []state // from records that were read
	recorded int64   // the latest node version of these records
	shown    []int64 // by step, which is a showing that has changed the life: the node's version
	total    int     // number of states so far, including those of adopted records

	// foundIn is the node as it was found after a gap; nil if the process has seen the taint appear. The process last
	// saw the node without the taint at the version absentAt, if at all.
	foundIn  *v1.Node
	foundBy  time.Duration // when it was found
	absentAt int64

	// doubted means that the taint may or may not be the one that the process knew before.
	doubted bool

	// gap is the version at which the process last saw the node before the first gap that the life outlived; 0: no gap.
	gap int64

	// dropped means that there were more states than are kept, and that a pod distinguishes some of them or not all
	// pods were known: then the oldest states are dropped. Otherwise states are joined.
	dropped bool
}

// span has the bounds of a moment or of a duration.
type span struct{ lo, hi time.Duration }

// covering returns the bounds that include both.
func (s span) covering(o span) span { return span{min(s.lo, o.lo), max(s.hi, o.hi)} }

// plus returns the bounds of the moment after this duration.
func (s span) plus(by span) span { return span{later(s.lo, by.lo), later(s.hi, by.hi)} }

// uncertain is the largest width of the interval in which a process knows how far its clock is ahead: the Date of an
// answer is cut off to the second, and the answer takes time.
const uncertain = 1500 * time.Millisecond

// skew bounds by how much later than its true time a timestamp of the API counts for the process; negative if it counts
// earlier. docs/semantics.md, "Clocks": of the ages by the process's clock and by the API server's, the smaller one
// counts.
func (p *Process) skew() span {
	return span{max(-p.ahead, 0), max(uncertain, -p.ahead) + p.oracle.Apart}
}

// recordedAt returns by how much a moment of the process is recorded later than it was. docs/semantics.md, "Clocks":
// the later time of the two clocks is recorded, rounded up to the millisecond.
func (p *Process) recordedAt() span {
	return span{max(p.ahead, 0), max(uncertain, p.ahead) + p.oracle.Apart + time.Millisecond}
}

// view is how a process is shown a node, or reads a record of it.
type view struct {
	at   time.Duration
	how  How
	skew span          // of timestamps of the API
	zero time.Duration // Unix time at the true moment zero, by the API server's clock

	// What was known before a gap, or to the writer of a record.
	watched time.Duration // when it last watched
	margin  time.Duration // by how much earlier that may have been recorded
	reached int64         // up to which version it knew all nodes
	before  []v1.Taint    // the node's taints, as it knew them; nil if it did not know the node

	now *v1.Node // as it is shown, or was found
}

// moment bounds the moment that an API timestamp counts as. docs/semantics.md, "Clocks": a start that is taken from
// a timestamp is the next second.
func (v *view) moment(unix int64) span {
	next := time.Duration(unix+1)*time.Second - v.zero
	return span{next, next}.plus(v.skew)
}

// counts returns moment, and whether the timestamp may and must count: it counts unless it is in the future.
func (v *view) counts(unix int64) (s span, may, must bool) {
	s = v.moment(unix)
	return s, s.lo-time.Second <= v.at, s.hi-time.Second <= v.at
}

// of returns the NoExecute taints of the group.
func of(taints []v1.Taint, g string) []*v1.Taint {
	var list []*v1.Taint
	for i := range taints {
		if taints[i].Effect == v1.TaintEffectNoExecute && group(taints[i].Key) == g {
			list = append(list, &taints[i])
		}
	}
	return list
}

// continues reports, after a gap, whether the process may take the taint for the one it knows, and whether it must.
//
// docs/semantics.md, "When a taint was set": a node that has not changed since it was last watched has the same
// taints. A taint without timeAdded that was removed and set again while no process watched counts as one, unless
// managedFields show that the same list of taints was written since. Timestamps of the API are whole seconds, so the
// process must if timeAdded is the same. A later timeAdded means a new taint, so the process may if timeAdded, rounded
// up, is not later than the known start. For the pair not-ready and unreachable, whose timeAdded changes at each swap,
// the life continues, too, if timeAdded is not later than the last proof that a process watched.
func (l *life) continues(taints []*v1.Taint, v *view) (may, must bool) {
	if number(v.now.ResourceVersion) <= v.reached {
		return true, true
	}
	mayRewrite, mustRewrite := v.rewritten()
	for _, t := range taints {
		if t.TimeAdded == nil {
			may, must = may || !mustRewrite, must || !mayRewrite
			continue
		}
		known := statesOf(l.states, t)
		if slices.ContainsFunc(known, func(s state) bool { return !l.covers(s) }) {
			return true, true
		}
		may = may || len(known)+len(statesOf(l.heard, t)) > 0
		added := v.moment(t.TimeAdded.Unix())
		if group(t.Key) == v1.TaintNodeUnreachable {
			may = may || added.lo <= v.watched
			must = must || added.hi <= v.watched-v.margin
		}
		may = may || added.lo <= l.starts().hi
	}
	return may, must
}

// rewritten reports whether managedFields may, or must, show that the same list of taints was written since the last
// look, so that each of them was set again.
func (v *view) rewritten() (may, must bool) {
	written := written(v.now)
	if written == nil || !equality.Semantic.DeepEqual(v.before, v.now.Spec.Taints) {
		return false, false
	}
	at := v.moment(written.Unix())
	return at.hi > v.watched-v.margin, at.lo > v.watched
}

// written returns the time of the managedFields of a node's list of taints; nil if there is none.
func written(n *v1.Node) (last *metav1.Time) {
	for _, m := range n.ManagedFields {
		owns := m.FieldsV1 != nil && strings.Contains(m.FieldsV1.GetRawString(), "f:taints")
		if owns && m.Time != nil && (last == nil || m.Time.After(last.Time)) {
			last = m.Time
		}
	}
	return last
}

// statesOf returns the states that are the taint with the same timeAdded.
func statesOf(states []state, t *v1.Taint) (list []state) {
	for _, s := range states {
		if s.pair == pairOf(t) && s.added.Equal(t.TimeAdded) {
			list = append(list, s)
		}
	}
	return list
}

// covers reports whether another state stood throughout this one, which a process may forget, as it decides nothing.
func (l *life) covers(s state) bool {
	return slices.ContainsFunc(l.states, func(o state) bool {
		return o.pair != s.pair && o.from <= s.from && s.to <= o.to && s.to != standing
	})
}

// starts bounds the starts of all states.
func (l *life) starts() span {
	all := span{Far, none}
	for i := range l.states {
		all = all.covering(l.states[i].span)
	}
	return all
}

// take extends the life with the taints of its group that are shown now, and reports whether anything is new.
func (p *Process) take(l *life, k *nodeView, v *view) (changed bool) {
	now, taints, seen := len(l.shown), of(k.node.Spec.Taints, l.group), v.how == Watched
	for i := range l.states {
		s := &l.states[i]
		if s.to != standing {
			continue
		}
		t := lastOf(taints, func(t *v1.Taint) bool { return pairOf(t) == s.pair })
		if t == nil {
			s.to, changed = now, true
			continue
		}
		changed = changed || !s.added.Equal(t.TimeAdded)
		s.added = t.TimeAdded
	}
	by := p.recordedAt()
	for _, t := range taints {
		if slices.ContainsFunc(l.states, func(s state) bool { return s.to == standing && s.pair == pairOf(t) }) {
			continue
		}
		start := p.begin(k, v, t)
		if !seen { // states are in the order in which they began, also those of a record that was read
			for i := range l.heard {
				start = start.covering(l.heard[i].span)
			}
		}
		recorded := span{start.lo, later(start.hi, by.hi)}
		if !seen { // a timestamp of the API is recorded as it is
			recorded.lo -= v.skew.lo
		}
		l.states = append(l.states, state{
			pair: pairOf(t), span: start, added: t.TimeAdded, recorded: recorded, from: now, to: standing, seen: seen,
		})
		l.total++
		changed = true
	}
	if changed {
		l.shown = append(l.shown, k.version)
	}
	return changed
}

// at returns the states that were present at a step.
func (l *life) at(step int) (there []*state) {
	for i := range l.states {
		if s := &l.states[i]; s.from <= step && step < s.to {
			there = append(there, s)
		}
	}
	return there
}

// sameStates reports whether both have the same taints.
func sameStates(a, b []*state) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s *state) bool { return like(b, s) == nil })
}

// like returns the state with the same taint, or nil.
func like(states []*state, s *state) *state {
	return lastOf(states, func(other *state) bool { return other.pair == s.pair })
}

// entered returns the recorded life as it counts for a process with this skew: not from before the node's creation, and
// at the latest from when the process found it.
func (l *life) entered(by span, created, found time.Duration) *life {
	c := l.clone()
	for i := range c.states {
		s := &c.states[i]
		s.span = s.recorded.plus(by)
		s.lo, s.hi, s.seen = min(s.lo, found), min(max(s.hi, created), found), false
	}
	return c
}

func (l *life) clone() *life {
	c := *l
	c.states, c.shown = slices.Clone(l.states), slices.Clone(l.shown)
	return &c
}

// doubt covers the case that the taint, as it is shown at this time, is not the one that the process knew before.
func (l *life) doubt(at, recorded time.Duration) {
	l.doubted = true
	for i := range l.states {
		s := &l.states[i]
		s.hi, s.recorded.hi = max(s.hi, at), max(s.recorded.hi, recorded)
	}
}

// exposed reports whether the pod was exposed at that step: whether a taint was present that it does not tolerate
// without a limit.
func (l *life) exposed(tolerations []v1.Toleration, step int) bool {
	return slices.ContainsFunc(l.at(step), func(s *state) bool { return !s.toleratedForever(tolerations) })
}

func (s *state) toleratedForever(tolerations []v1.Toleration) bool {
	_, forever := tolerates(tolerations, s.key, s.value)
	return forever
}

// exposure bounds the start of the pod's present exposure. docs/semantics.md, "When a countdown starts": the start
// of the latest unbroken run of the taint's states that the pod does not tolerate forever.
func (l *life) exposure(tolerations []v1.Toleration) span {
	first := len(l.shown) - 1
	for first > 0 && l.exposed(tolerations, first-1) {
		first--
	}
	start := span{Far, Far}
	for _, s := range l.at(first) {
		if !s.toleratedForever(tolerations) {
			start = span{min(start.lo, s.lo), min(start.hi, s.hi)}
		}
	}
	if l.dropped { // only eight states are kept, and a dropped one makes an eviction later
		start.hi = l.starts().hi
	}
	return start
}

// apart reports whether the pod distinguishes any two states of the life.
func (l *life) apart(tolerations []v1.Toleration) bool {
	return slices.ContainsFunc(l.states, func(s state) bool {
		return s.toleratedForever(tolerations) != l.states[0].toleratedForever(tolerations)
	})
}
