package oracle

import (
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// kept is how many states of a taint the journal keeps: section 3, "8 at most".
const kept = 8

// standing is the end of what has not ended.
const standing = math.MaxInt

// state is a taint with one value, as a process was shown it, with the bounds of its start.
type state struct {
	key, value string
	added      *int64 // its timeAdded, as last shown: seconds since 1970
	lo, hi     time.Duration
	from, to   int  // the looks of the life at which it was there: from ≤ look < to
	seen       bool // the process saw it appear
}

// life is the presence of one taint on one node that a process has to take for unbroken.
type life struct {
	group  string
	states []state
	heard  []state       // of records, which may have been taken over or not
	told   int64         // the latest version of the node that such a record knew
	taken  bool          // that record was certainly taken over
	looks  int           // how many looks have shown something new
	late   time.Duration // how long a record was on its way that was received: what it told stays as late
	shown  []int64       // the node's version at each of them; 0 for those of a record
	total  int           // states that there were, also in the records that were taken over

	// found says that the process has not seen the taint appear: it found it after a gap. It last saw
	// the node without the taint at the version absentAt, if ever.
	found    bool
	foundAs  []*v1.Taint
	foundBy  time.Duration // when it was found
	foundAt  int64         // and at which version
	absentAt int64

	// doubted says that it may be another one than the process has known before, and may be the same.
	doubted bool

	// bridged says that the taint was lifted and set again meanwhile, in truth, and counts as one.
	bridged bool

	// dropped says that there were more states than are kept, and pods tell some apart, or not all pods
	// were known: then old states are dropped. Otherwise they are joined.
	dropped bool
}

// view is how a process is shown a node.
type view struct {
	at      time.Duration
	how     How
	ahead   time.Duration // by how much the process's clock is ahead of the API server's
	skew    skew          // of times of the API
	watched time.Duration // the last proof that somebody watched before a gap
	zero    time.Duration // Unix time at the true moment zero, by the API server's clock
	slip    func(passed time.Duration) time.Duration
}

// span is between two moments.
type span struct{ lo, hi time.Duration }

// moment bounds the moment that an API timestamp counts as. Section 3: "a start taken from one is rounded up to the
// next second".
func (v *view) moment(unix int64) span {
	next := time.Duration(unix+1)*time.Second - v.zero
	slip := v.slip(v.at - next)
	return span{next + v.skew.lo - slip, next + v.skew.hi + slip}
}

// counts is moment, and whether the timestamp may be believed, and must be: "if not in the future".
func (v *view) counts(unix int64) (s span, may, must bool) {
	s = v.moment(unix)
	return s, s.lo-time.Second <= v.at, s.hi-time.Second <= v.at
}

// of are the NoExecute taints that belong to the group.
func of(taints []v1.Taint, g string) []*v1.Taint {
	var list []*v1.Taint
	for i := range taints {
		if taints[i].Effect == v1.TaintEffectNoExecute && group(taints[i].Key) == g {
			list = append(list, &taints[i])
		}
	}
	return list
}

// continues says, after a gap, whether the process may take the taint for the one it knows, and whether
// it must.
//
// Section 3: "An untimed taint that was lifted and set again while nobody watched counts as one taint":
// so it must where there is no timeAdded. "Timestamps in the API are whole seconds": so it must where
// timeAdded is the same. "A later timeAdded means a new taint": so it may where timeAdded, rounded up, is
// not later than what it knows; "for the not-ready/unreachable pair only if it is also later than the
// last proof that somebody watched".
func (l *life) continues(taints []*v1.Taint, v *view) (may, must bool) {
	for _, t := range taints {
		if t.TimeAdded == nil || knows(l.states, t) {
			return true, true
		}
		may = may || knows(l.heard, t)
		added := v.moment(t.TimeAdded.Unix())
		if group(t.Key) == v1.TaintNodeUnreachable {
			may = may || added.lo <= v.watched
			must = must || added.hi <= v.watched
		}
		may = may || added.lo <= l.latest()
	}
	return may, must
}

// knows says whether one of the states is the taint with this very timeAdded.
func knows(states []state, t *v1.Taint) bool {
	for i := range states {
		s := &states[i]
		if s.key == t.Key && s.value == t.Value && s.added != nil && *s.added == t.TimeAdded.Unix() {
			return true
		}
	}
	return false
}

// latest is the upper bound of the start of any state.
func (l *life) latest() time.Duration {
	latest := none
	for i := range l.states {
		latest = max(latest, l.states[i].hi)
	}
	return latest
}

// earliest is the lower bound of the start of all states.
func (l *life) earliest() time.Duration {
	earliest := far
	for i := range l.states {
		earliest = min(earliest, l.states[i].lo)
	}
	return earliest
}

// take carries the life on to what is shown now; say whether anything is new.
func (l *life) take(version int64, taints []*v1.Taint, seen bool, begin func(t *v1.Taint) (lo, hi time.Duration)) (changed bool) {
	now := l.looks
	for i := range l.states {
		s := &l.states[i]
		if s.to != standing {
			continue
		}
		t := find(taints, s.key, s.value)
		if t == nil {
			s.to, changed = now, true
			continue
		}
		changed = changed || !same(s.added, seconds(t))
		s.added = seconds(t)
	}
	for _, t := range taints {
		if l.stands(t.Key, t.Value) {
			continue
		}
		lo, hi := begin(t)
		if version <= l.told || !seen {
			lo, hi = l.toldBefore(lo, hi)
		}
		l.states = append(l.states, state{key: t.Key, value: t.Value, added: seconds(t), lo: lo, hi: hi, from: now, to: standing, seen: seen})
		l.total++
		changed = true
	}
	if changed {
		l.looks++
		l.shown = append(l.shown, version)
	}
	return changed
}

// toldBefore are the bounds of a state that a record may have seen before it was shown: it may count from any time
// that the record has, as the record wins.
func (l *life) toldBefore(lo, hi time.Duration) (time.Duration, time.Duration) {
	for i := range l.heard {
		lo, hi = min(lo, l.heard[i].lo), max(hi, l.heard[i].hi)
	}
	return lo, hi
}

func (l *life) stands(key, value string) bool {
	return slices.ContainsFunc(l.states, func(s state) bool { return s.to == standing && s.key == key && s.value == value })
}

// lookAt is the last look that had shown as much as this version; -1 when none had, or more may have been
// shown at that version than at any look.
func (l *life) lookAt(version int64) int {
	last := -1
	for i, shown := range l.shown {
		if shown <= version {
			last = i
		}
	}
	return last
}

// at are the states that were there at a look.
func (l *life) at(look int) (there []*state) {
	for i := range l.states {
		if l.states[i].thereAt(look) {
			there = append(there, &l.states[i])
		}
	}
	return there
}

// sameStates says whether both have the same taints.
func sameStates(a, b []*state) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s *state) bool { return like(b, s) == nil })
}

// like is the one of the states that has this taint; nil when none has.
func like(states []*state, s *state) *state {
	for _, other := range states {
		if other.key == s.key && other.value == s.value {
			return other
		}
	}
	return nil
}

// copied is the life with bounds that are later by the skew.
func (l *life) copied(by skew) *life {
	c := *l
	c.states, c.shown = slices.Clone(l.states), make([]int64, l.looks)
	for i := range c.states {
		c.states[i].lo += min(by.lo, 0)
		c.states[i].seen = false
		c.states[i].hi = later(c.states[i].hi, max(by.hi, 0))
	}
	return &c
}

// widen lets every state begin as early as this, and as late as that.
func (l *life) widen(lo, hi time.Duration) {
	for i := range l.states {
		s := &l.states[i]
		s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
	}
}

// exposed says whether the pod was exposed at that look: whether any taint was there that it does not
// bear for ever.
func (l *life) exposed(tolerations []v1.Toleration, look int) bool {
	for i := range l.states {
		if l.states[i].thereAt(look) && !l.states[i].borne(tolerations) {
			return true
		}
	}
	return false
}

func (s *state) thereAt(look int) bool { return s.from <= look && look < s.to }

func (s *state) borne(tolerations []v1.Toleration) bool {
	_, forever := bears(tolerations, s.key, s.value)
	return forever
}

// exposure bounds the start of the pod's present exposure. Section 3: "the start of the latest unbroken
// run of the taint's states that the pod does not bear without limit".
func (l *life) exposure(tolerations []v1.Toleration) (lo, hi time.Duration) {
	first := l.looks - 1
	for first > 0 && l.exposed(tolerations, first-1) {
		first--
	}
	lo, hi = far, far
	for i := range l.states {
		if s := &l.states[i]; s.thereAt(first) && !s.borne(tolerations) {
			lo, hi = min(lo, s.lo), min(hi, s.hi)
		}
	}
	if l.dropped { // "8 at most": what is dropped makes an eviction later
		hi = l.latest()
	}
	return lo, hi
}

// apart says whether the pod tells any two states of the life apart.
func (l *life) apart(tolerations []v1.Toleration) bool {
	for i := range l.states {
		if l.states[i].borne(tolerations) != l.states[0].borne(tolerations) {
			return true
		}
	}
	return false
}

func find(taints []*v1.Taint, key, value string) *v1.Taint {
	for _, t := range taints {
		if t.Key == key && t.Value == value {
			return t
		}
	}
	return nil
}

// seconds is a taint's timeAdded, nil when it has none.
func seconds(t *v1.Taint) *int64 {
	if t.TimeAdded == nil {
		return nil
	}
	s := t.TimeAdded.Unix()
	return &s
}

func same(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }
