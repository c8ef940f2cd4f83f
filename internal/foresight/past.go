package foresight

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// EvictionReason is the reason of the events that say that a pod goes, or no longer.
const EvictionReason = "TaintManagerEviction"

// PastEviction is an eviction because of a taint, as events tell it.
type PastEviction struct {
	Predecessor bool `json:"predecessor,omitempty"` // an earlier pod of the same name was evicted

	Node  string     `json:"node,omitempty"`  // of the first call; an event of the original has only At
	Due   *time.Time `json:"due,omitempty"`   // when the first call was due
	At    time.Time  `json:"at"`              // when the first call was made
	Taint string     `json:"taint,omitempty"` // because of which the first call was made

	Obstacle   string     `json:"obstacle,omitempty"`   // what was in the way last; empty if nothing was
	ObstacleAt *time.Time `json:"obstacleAt,omitempty"` // when that was in the way
}

// pastOf returns the eviction that the events of one pod tell, in the order of their times. At is zero if they report
// no first call, or if it was cancelled.
func pastOf(events []Event) (past PastEviction) {
	for i := range events {
		e := &events[i]
		_, obstacle, _ := strings.Cut(e.Message, ", is ")
		switch {
		case e.Reason == "EvictionBlocked" || e.Reason == "EvictionHeld":
			past.Obstacle, past.ObstacleAt = strings.Replace(obstacle, ", and will be tried again", "", 1), &e.Time
		case e.Reason != EvictionReason:
		case strings.HasPrefix(e.Message, "Cancelling "): // as the original's, which has no annotations
			past = PastEviction{}
		default:
			said := e.Annotations
			past.Node, past.At, past.Taint = said[eviction.NodeAnnotation], e.Time, said[eviction.TaintAnnotation]
			if due, err := time.Parse(time.RFC3339, said[eviction.DeadlineAnnotation]); err == nil {
				past.Due = &due
			}
		}
	}
	return past
}

// cancellation says when and why the last eviction was cancelled, if no later one began and the event names a probable
// cause; otherwise "".
func cancellation(events []Event) (words string) {
	for i := range events {
		e := &events[i]
		if e.Reason != EvictionReason {
			continue
		}
		words = ""
		guess := func(cause string) bool { return strings.Contains(e.Message, cause) }
		if strings.HasPrefix(e.Message, "Cancelling ") &&
			slices.ContainsFunc([]string{eviction.OutageSpared, eviction.DeletedByDaemonSet}, guess) {
			_, cause, _ := strings.Cut(e.Message, ": ")
			cause, _, _ = strings.Cut(cause, "; it was to go")
			words = "its eviction was cancelled at " + taint.Stamp(e.Time) + ": " + cause
		}
	}
	return words
}

// words says when and why a pod was evicted or, if something was in the way after that, when its eviction began. The
// words was and of name the pod.
func (p *PastEviction) words(was, of string) string {
	from := ""
	if p.Node != "" {
		from = " from " + p.Node
	}
	text := was + "evicted" + from + " at " + taint.Stamp(p.At)
	if p.ObstacleAt != nil && !p.ObstacleAt.Before(p.At) {
		text = of + "eviction" + from + " began at " + taint.Stamp(p.At)
	}
	if p.Due != nil && p.At.Sub(*p.Due) > time.Second {
		text += ", " + p.At.Sub(*p.Due).Round(time.Second).String() + " after it was due"
	}
	if p.Taint != "" {
		text += ", because of taint " + p.Taint
	}
	if p.Obstacle != "" {
		text += "; at " + taint.Stamp(*p.ObstacleAt) + " it was " + p.Obstacle
	}
	return text
}

// addPast adds what events report: how a pod that is going or gone, or its predecessor, was evicted, or what is in the
// way of an overdue pod. earlier has the events of earlier pods of its name.
func (m *Model) addPast(e *Explanation, p *pod, earlier map[types.UID][]Event) {
	past, cancelled := pastOf(e.Events), cancellation(e.Events)
	switch {
	case p == nil || p.Terminating:
		e.History = m.historyOf(e, &past, cancelled)
	case e.Overdue() && past.Obstacle != "":
		e.Blocker = "the eviction is " + past.Obstacle + " (event of " + taint.Stamp(*past.ObstacleAt) + ")"
		return
	case cancelled != "":
		e.History = cancelled
		return
	default:
		past = predecessor(earlier)
		if !past.At.IsZero() {
			past.Predecessor = true
			e.History = past.words("an earlier pod of this name was ", "the earlier pod's ")
		}
	}
	if !past.At.IsZero() {
		e.Past = &past
	}
}

// historyOf says how a pod went that is going or gone; cancelled is the result of cancellation.
func (m *Model) historyOf(e *Explanation, past *PastEviction, cancelled string) string {
	switch cause := m.reading.EventsUnknown; {
	case !past.At.IsZero():
		return past.words("", "its ")
	case cancelled != "":
		return cancelled
	case e.Disruption != nil && e.Disruption.Reason == "DeletionByTaintManager":
		return "evicted because of a taint, according to its condition DisruptionTarget"
	case cause != "":
		return "whether taint-manager evicted it is unknown, because " + cause
	}
	return "its events show no eviction by taint-manager"
}

// predecessor returns the latest eviction of an earlier pod; At is zero if no events report one.
func predecessor(earlier map[types.UID][]Event) (last PastEviction) {
	for _, events := range earlier {
		if past := pastOf(events); last.At.Before(past.At) {
			last = past
		}
	}
	return last
}

// eventsOf returns the events of this very pod, and those of earlier pods of its name by their UIDs, in the order of
// their times. An event without a UID, such as the original's, is an earlier pod's if it is older than this one. All
// are its own if the pod is gone.
func (m *Model) eventsOf(namespace, name string, p *pod) (own []Event, earlier map[types.UID][]Event) {
	earlier = map[types.UID][]Event{}
	for _, e := range m.eventsAbout(namespace, name) {
		uid, about := e.InvolvedObject.UID, Event{*utc(eventTime(e)), e.Type, e.Reason, e.Message, e.Annotations}
		if p == nil || uid == p.UID && uid != "" || (uid == "" || p.UID == "") && !about.Time.Before(p.created) {
			own = append(own, about)
		} else {
			earlier[uid] = append(earlier[uid], about)
		}
	}
	return own, earlier
}

// eventsAbout returns the events about pods of this name, in the order of their times.
func (m *Model) eventsAbout(namespace, name string) (list []*v1.Event) {
	for i := range m.events {
		if of := &m.events[i].InvolvedObject; of.Namespace == namespace && of.Name == name {
			list = append(list, &m.events[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *v1.Event) int { return eventTime(a).Compare(eventTime(b)) })
	return list
}

// eventTime returns when an event happened last. Clients that write events fill in different fields.
func eventTime(e *v1.Event) time.Time {
	return cmp.Or(e.LastTimestamp.Time, e.EventTime.Time, e.FirstTimestamp.Time, e.CreationTimestamp.Time)
}
