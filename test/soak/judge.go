package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The four promises.
const (
	early = "early" // deleted before its deadline
	wrong = "wrong" // deleted without a reason, or without the UID
	twice = "twice" // deleted again after an answer that was not lost
	lost  = "lost"  // due, and not deleted
)

const (
	confirmed = 5 * time.Second  // how old the GET of the node may be that confirms a DELETE
	patience  = 15 * time.Second // how long a due pod may stay while there is no fault
)

// span is a time, or two bounds of a time that is not known exactly.
type span struct{ from, to time.Time }

func (s span) add(d time.Duration) span { return span{s.from.Add(d), s.to.Add(d)} }

// later returns the bounds of the later of two times.
func (s span) later(o span) span {
	if s.from.Before(o.from) {
		s.from = o.from
	}
	if s.to.Before(o.to) {
		s.to = o.to
	}
	return s
}

func (s span) overlaps(o span) bool { return s.from.Before(o.to) && o.from.Before(s.to) }

// without returns how much of the span is in none of the others.
func (s span) without(others []span) (left time.Duration) {
	at := s.from
	for _, o := range slices.SortedFunc(slices.Values(others), func(a, b span) int { return a.from.Compare(b.from) }) {
		if s.overlaps(o) {
			left += max(0, o.from.Sub(at))
			at = span{at, at}.later(o).to
		}
	}
	return left + max(0, s.to.Sub(at))
}

// fault is a fault, from its beginning until what it delayed is done.
type fault struct {
	span
	kind
}

// history is what the API server has logged: the taints of nodes, and the lives of pods.
type history struct {
	taints map[string][]tainted // by node
	pods   map[types.UID]*pod
	end    time.Time
	faults []fault
}

// tainted is the time between the setting of a NoExecute taint and its removal, which may be long after the end.
type tainted struct {
	taint       v1.Taint
	begin, ends span
}

type pod struct {
	*v1.Pod      // tolerations and node never change
	bound   span // when it was bound to its node
	calls   []call
	gone    time.Time // when it was first seen to terminate; zero if it was not
}

// call is a DELETE by taint-manager, from its receipt to its answer.
type call struct {
	span
	code int
	uid  types.UID // the precondition
}

type verdict struct {
	evictions, repeats int
	longest            time.Duration // that a due pod stayed while there was no fault
	violations         []violation
}

type violation struct{ promise, what string }

func (v *verdict) broken(promise, format string, args ...any) {
	v.violations = append(v.violations, violation{promise, fmt.Sprintf(format, args...)})
}

// judge compares each deletion with what was true when it was asked for, and each pod that is left with its deadlines.
func (h *history) judge() *verdict {
	v := &verdict{}
	for _, uid := range slices.Sorted(maps.Keys(h.pods)) {
		p := h.pods[uid]
		accepted := p.accepted()
		for i, c := range accepted {
			h.judgeCall(v, p, c)
			if i > 0 && !h.answerLost(accepted[i-1]) {
				v.broken(twice, "%v: DELETE at %v, after that at %v", p, stamp(c.from), stamp(accepted[i-1].from))
			}
		}
		until := h.end
		if len(accepted) > 0 {
			until = accepted[0].from
			v.evictions++
			v.repeats += len(accepted) - 1
		}
		h.judgeWait(v, p, until)
	}
	return v
}

// accepted returns the DELETEs that were carried out. If the pod is gone without one, an answer or a record was lost:
// then the last DELETE with a server error counts or, without one, the first sight of the terminating pod.
func (p *pod) accepted() (list []call) {
	unknown := call{span: span{p.gone, p.gone}, uid: p.UID}
	for _, c := range slices.SortedFunc(slices.Values(p.calls), func(a, b call) int { return a.from.Compare(b.from) }) {
		switch {
		case c.code < 300:
			list = append(list, c)
		case c.code >= 500:
			unknown = c
		}
	}
	if len(list) == 0 && !p.gone.IsZero() {
		list = append(list, unknown)
	}
	return list
}

func (h *history) judgeCall(v *verdict, p *pod, c call) {
	if c.uid != p.UID {
		v.broken(wrong, "%v: DELETE at %v with the UID %q", p, stamp(c.from), c.uid)
	}
	looked := span{c.from.Add(-confirmed), c.from}
	looked.from = looked.from.Add(looked.without(h.delays(p, "")) - confirmed) // a hanging API server receives it late
	reason, wait := wrong, time.Duration(0)
	for _, t := range h.taints[p.Spec.NodeName] {
		due, goes := p.due(&t)
		switch {
		case !goes || t.ends.to.Before(due.from) || t.ends.to.Before(looked.from):
		case c.from.Before(t.begin.from) || h.holds(t.taint.Key, c.from):
		case !c.from.Before(due.from):
			return
		case reason == wrong || due.from.Sub(c.from) < wait:
			reason, wait = early, due.from.Sub(c.from)
		}
	}
	v.broken(reason, "%v: DELETE at %v, %v before its deadline; taints: %v", p, stamp(c.from), wait,
		h.taints[p.Spec.NodeName])
}

// judgeWait judges how long a pod that is due stayed until it was deleted, or until the end.
func (h *history) judgeWait(v *verdict, p *pod, until time.Time) {
	for _, t := range h.taints[p.Spec.NodeName] {
		due, goes := p.due(&t)
		waited := span{due.to, until}
		if waited.to.After(t.ends.from) {
			waited.to = t.ends.from
		}
		if !goes || !waited.from.Before(waited.to) {
			continue
		}
		stayed := waited.without(h.delays(p, t.taint.Key))
		v.longest = max(v.longest, stayed)
		if stayed > patience {
			v.broken(lost, "%v: due at %v because of %s, and there at %v",
				p, stamp(due.to), t.taint.Key, stamp(waited.to))
		}
	}
}

// due returns when the pod is due because of a taint, by the first toleration that matches.
func (p *pod) due(t *tainted) (span, bool) {
	start := p.bound.later(t.begin)
	if t.ends.to.Before(p.bound.from) {
		return span{}, false
	}
	for _, o := range p.Spec.Tolerations {
		if (o.Key == "" || o.Key == t.taint.Key) && (o.Effect == "" || o.Effect == v1.TaintEffectNoExecute) &&
			(o.Operator == v1.TolerationOpExists || o.Value == t.taint.Value) {
			if o.TolerationSeconds == nil {
				return span{}, false
			}
			return start.add(time.Duration(*o.TolerationSeconds) * time.Second), true
		}
	}
	return start, true
}

// delays returns when faults may delay the pod's eviction because of a taint with this key.
func (h *history) delays(p *pod, key string) (list []span) {
	for _, f := range h.faults {
		if f.delays(p.Namespace) || f.holds != "" && f.holds == key {
			list = append(list, f.span)
		}
	}
	return list
}

func (k *kind) delays(namespace string) bool {
	return k.namespaces == nil || slices.Contains(k.namespaces, namespace)
}

// holds reports whether the configuration certainly holds evictions for taints with this key.
func (h *history) holds(key string, at time.Time) bool {
	return slices.ContainsFunc(h.faults, func(f fault) bool {
		return f.holds == key && at.After(f.from.Add(f.wait)) && at.Before(f.to.Add(-f.wait))
	})
}

// answerLost reports whether a fault may have kept taint-manager from reading the answer.
func (h *history) answerLost(c call) bool {
	return slices.ContainsFunc(h.faults, func(f fault) bool {
		return f.losesAnswers && f.overlaps(span{c.from.Add(-time.Second), c.to.Add(time.Second)})
	})
}

func (p *pod) String() string {
	return cmp.Or(p.Namespace, "?") + "/" + p.Name + " " + string(p.UID) + " on " + p.Spec.NodeName
}

func (t tainted) String() string {
	return fmt.Sprintf("%s from %s to %s", t.taint.Key, stamp(t.begin.from), stamp(t.ends.to))
}

func stamp(t time.Time) string { return t.UTC().Format("15:04:05.000") }
