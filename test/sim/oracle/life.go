package oracle

import (
	"maps"
	"math"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// kept is the number of states of a taint that the journal keeps (docs/semantics.md, "Since when a taint is there").
const kept = 8

// untimed stands for the timeAdded of a taint that has none.
const untimed = math.MinInt64

// pair is the key and the value of a taint.
type pair struct{ key, value string }

func pairOf(t *v1.Taint) pair { return pair{t.Key, t.Value} }

// timed is a taint with its timeAdded: seconds since 1970.
type timed struct {
	pair
	added int64
}

func timedOf(t *v1.Taint) timed {
	if t.TimeAdded == nil {
		return timed{pairOf(t), untimed}
	}
	return timed{pairOf(t), t.TimeAdded.Unix()}
}

// state is a taint with one value, as a process was shown it last, with the bounds of its start.
type state struct {
	timed
	lo, hi time.Duration
	seen   bool // the process saw it appear
}

// step is a showing that has changed a life: the node's version, and the states that were present. The version of the
// steps of a record is 0.
type step struct {
	version int64
	states  []*state
}

// life is one presence of a taint on one node: the time during which a process has to take the taint for unbroken.
type life struct {
	group  string
	steps  []step
	states []*state // of all steps, in the order in which they began
	total  int      // number of states so far, including those of adopted records
	finding

	// Of the records that were adopted: the latest node version, their states, the bounds of the starts of these, and
	// the longest delivery of a record that was received: adopted times stay that late.
	recorded       int64
	told           map[timed]bool
	toldLo, toldHi time.Duration
	late           time.Duration
}

// finding says how a process has found a taint after a gap.
type finding struct {
	found    bool
	as       []*v1.Taint
	by       time.Duration
	at       int64 // the node's version
	absentAt int64 // the node's version that was shown before, without the taint
	doubted  bool  // the taint may or may not be the one that the process knew before
}

// skew bounds how much later a timestamp of the API counts for a process than it was true; negative if it counts
// earlier.
type skew struct{ lo, hi time.Duration }

// uncertain is the largest width of the interval in which a process knows how far its clock is ahead: the Date of an
// answer is cut off to the second, and the answer takes time.
const uncertain = 1500 * time.Millisecond

// skewAt returns the skew for a process that is ahead of the API server by that much. docs/semantics.md, "Clocks":
// where the process may be ahead by more than 2 s, each age is shortened by as much; no age is lengthened.
func skewAt(ahead time.Duration) skew {
	const tolerance, margin = 2 * time.Second, 100 * time.Millisecond
	switch {
	case ahead > tolerance+margin:
		return skew{0, uncertain}
	case ahead > tolerance-uncertain-margin:
		return skew{-ahead, max(uncertain, -ahead)}
	}
	return skew{-ahead, -ahead}
}

// view is how a process is shown a node.
type view struct {
	at      time.Duration
	how     How
	skew    skew          // of timestamps of the API
	watched time.Duration // the last proof that a process watched before a gap
	zero    time.Duration // Unix time at the true moment zero, by the API server's clock
}

// span is the time between two moments.
type span struct{ lo, hi time.Duration }

// moment bounds the moment that an API timestamp counts as. docs/semantics.md, "Clocks": a start that is taken from
// a timestamp is the next second.
func (v *view) moment(unix int64) span {
	next := time.Duration(unix+1)*time.Second - v.zero
	return span{next + v.skew.lo, next + v.skew.hi}
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
		if taints[i].Effect == v1.TaintEffectNoExecute && Group(taints[i].Key) == g {
			list = append(list, &taints[i])
		}
	}
	return list
}

// continues reports, after a gap, whether the process may take the taint for the one it knows, and whether it must.
//
// docs/semantics.md, "Since when a taint is there": a taint without timeAdded that was removed and set again while
// no process watched counts as one. So it must if there is no timeAdded. Timestamps of the API are whole seconds, so
// it must if timeAdded is the same. A later timeAdded means a new taint, so it may if timeAdded, rounded up, is not
// later than the known start. For the pair not-ready and unreachable, whose timeAdded changes at each swap, it
// continues too if timeAdded is not later than the last proof that a process watched.
func (l *life) continues(taints []*v1.Taint, v *view) (may, must bool) {
	for _, t := range taints {
		known := func(s *state) bool { return s.timed == timedOf(t) }
		if t.TimeAdded == nil || slices.ContainsFunc(l.states, known) {
			return true, true
		}
		added := v.moment(t.TimeAdded.Unix())
		if Group(t.Key) == v1.TaintNodeUnreachable {
			may = may || added.lo <= v.watched
			must = must || added.hi <= v.watched
		}
		may = may || l.told[timedOf(t)] || added.lo <= l.latest()
	}
	return may, must
}

// latest returns the upper bound of the start of any state.
func (l *life) latest() time.Duration {
	latest := none
	for _, s := range l.states {
		latest = max(latest, s.hi)
	}
	return latest
}

// earliest returns the lower bound of the start of all states.
func (l *life) earliest() time.Duration {
	earliest := far
	for _, s := range l.states {
		earliest = min(earliest, s.lo)
	}
	return earliest
}

// now returns the present states.
func (l *life) now() []*state {
	if len(l.steps) == 0 {
		return nil
	}
	return l.steps[len(l.steps)-1].states
}

// take extends the life with the taints that are shown now, and reports whether anything is new.
func (l *life) take(
	version int64, taints []*v1.Taint, seen bool, begin func(t *v1.Taint) (lo, hi time.Duration),
) (changed bool) {
	before, now := l.now(), step{version: version}
	for _, t := range taints {
		s := like(before, pairOf(t))
		if s == nil {
			s = &state{seen: seen}
			s.lo, s.hi = begin(t)
			if len(l.told) > 0 && (version <= l.recorded || !seen) {
				// A record may have contained the state before the process was shown it. It may count from any time of
				// the record, because the record wins (docs/adr/0013-seen-and-told.md).
				s.lo, s.hi = min(s.lo, l.toldLo), max(s.hi, l.toldHi)
			}
			l.add(s)
		}
		changed = changed || s.timed != timedOf(t)
		s.timed = timedOf(t)
		now.states = append(now.states, s)
	}
	changed = changed || len(before) != len(now.states)
	if changed {
		l.steps = append(l.steps, now)
	}
	return changed
}

func (l *life) add(s *state) {
	l.states = append(l.states, s)
	l.total++
}

// stepAt returns the last step at this version or an earlier one; the first step if there is none.
func (l *life) stepAt(version int64) (last int) {
	for i := range l.steps {
		if l.steps[i].version <= version {
			last = i
		}
	}
	return last
}

// sameStates reports whether both have the same taints.
func sameStates(a, b []*state) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s *state) bool { return like(b, s.pair) == nil })
}

// like returns the state of this taint, or nil.
func like(states []*state, p pair) *state {
	return lastOf(states, func(s *state) bool { return s.pair == p })
}

// copied returns the life with its bounds moved later by the skew, as a record has it.
func (l *life) copied(by skew) *life {
	c, copies := *l, map[*state]*state{}
	c.states, c.steps, c.told = nil, make([]step, len(l.steps)), maps.Clone(l.told)
	for _, s := range l.states {
		copies[s] = &state{s.timed, s.lo + min(by.lo, 0), later(s.hi, max(by.hi, 0)), false}
		c.states = append(c.states, copies[s])
	}
	for i := range l.steps {
		for _, s := range l.steps[i].states {
			c.steps[i].states = append(c.steps[i].states, copies[s])
		}
	}
	return &c
}

// widen extends the bounds of every state's start to the interval.
func (l *life) widen(lo, hi time.Duration) {
	for _, s := range l.states {
		s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
	}
}

// clamp moves later starts to this moment.
func (l *life) clamp(latest time.Duration) {
	for _, s := range l.states {
		s.lo, s.hi = min(s.lo, latest), min(s.hi, latest)
	}
}

// exposing returns the states of a step that the pod does not tolerate without a limit.
func (s *step) exposing(tolerations []v1.Toleration) (list []*state) {
	for _, s := range s.states {
		if _, forever := tolerates(tolerations, s.key, s.value); !forever {
			list = append(list, s)
		}
	}
	return list
}

// exposure bounds the start of the pod's present exposure. docs/semantics.md, "When an exposure starts": the start
// of the latest unbroken run of the taint's states that the pod does not bear without a limit.
func (l *life) exposure(pod *podStory, tolerations []v1.Toleration) (lo, hi time.Duration) {
	first := len(l.steps) - 1
	for first > 0 && len(l.steps[first-1].exposing(tolerations)) > 0 {
		first--
	}
	lo, hi = far, far
	for _, s := range l.steps[first].exposing(tolerations) {
		lo, hi = min(lo, s.lo), min(hi, s.hi)
	}
	if l.total > kept { // the oldest states are dropped, which makes an eviction later, or joined
		if hi = l.latest(); pod.edited {
			lo = l.earliest() // docs/adr/0003-joining-states.md: they were joined before the edit was known
		}
	}
	return lo, hi
}

// join makes the bounds cover both lives; the other one is from a record that knew the node up to the version.
func (l *life) join(other *life, version int64) {
	l.widen(other.earliest(), max(other.latest(), l.latest(), l.by))
	if len(l.told) == 0 {
		l.told, l.toldLo, l.toldHi = map[timed]bool{}, far, none
	}
	for _, s := range other.states {
		l.told[s.timed] = true
		l.toldLo, l.toldHi = min(l.toldLo, s.lo), max(l.toldHi, s.hi)
	}
	if len(other.told) > 0 {
		maps.Copy(l.told, other.told)
		l.toldLo, l.toldHi = min(l.toldLo, other.toldLo), max(l.toldHi, other.toldHi)
	}
	l.recorded = max(l.recorded, version)
	l.total += other.total
}

// carryOn continues a recorded life of this version with what the process was shown after that step of its own life. A
// state that the process saw appear may count from that moment. States are in the order in which they began, so a state
// that was found in a list since may count from as late as the recorded ones.
func (l *life) carryOn(own *life, last int, version int64) {
	latest, end, theirs := l.latest(), len(l.steps)-1, map[*state]*state{}
	for _, s := range own.steps[last].states {
		r := like(l.now(), s.pair)
		if theirs[s], r.added = r, s.added; s.seen {
			r.lo, r.hi, r.seen = min(r.lo, s.lo), max(r.hi, s.hi), true
		}
	}
	l.steps[end].version = min(version, own.steps[last].version)
	for _, shown := range own.steps[last+1:] {
		next := step{version: shown.version}
		for _, s := range shown.states {
			if theirs[s] == nil {
				if !s.seen {
					s.hi = max(s.hi, latest)
				}
				theirs[s] = s
				l.add(s)
			}
			next.states = append(next.states, theirs[s])
		}
		l.steps = append(l.steps, next)
	}
}
