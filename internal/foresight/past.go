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

// EvictionReason is the reason of the events that say that a pod is evicted, or that its eviction is cancelled.
const EvictionReason = "TaintManagerEviction"

// PastEviction is an eviction because of a taint, according to events.
type PastEviction struct {
	Predecessor bool `json:"predecessor,omitempty"` // an earlier pod of the same name was evicted

	Node  string     `json:"node,omitempty"`  // node of the pod; an event of the built-in controller shows only At
	Due   *time.Time `json:"due,omitempty"`   // when the first call was due
	At    time.Time  `json:"at"`              // when the first call was made
	Taint string     `json:"taint,omitempty"` // the taint that evicted the pod

	Obstacle   string     `json:"obstacle,omitempty"`   // what blocked the eviction last; empty if nothing did
	ObstacleAt *time.Time `json:"obstacleAt,omitempty"` // when it did

	cancelled string // says when and why the eviction was cancelled, if a probable cause is known
}

// pastOf returns the eviction that the events of one pod report. It takes the events in the order of their times. At is
// zero if they report no first call, or if the eviction was cancelled.
func pastOf(events []Event) (past PastEviction) {
	for i := range events {
		e := &events[i]
		_, obstacle, _ := strings.Cut(e.Message, ", is ")
		switch {
		case e.Reason == "EvictionBlocked" || e.Reason == "EvictionHeld":
			past.Obstacle, past.ObstacleAt = strings.Replace(obstacle, ", and will be tried again", "", 1), &e.Time
		case e.Reason != EvictionReason:
		case strings.HasPrefix(e.Message, "Cancelling "): // also of the built-in controller, without annotations
			past = PastEviction{cancelled: e.cancellation()}
		default:
			said := e.Annotations
			past.Node, past.At, past.Taint = said[eviction.NodeAnnotation], e.Time, said[eviction.TaintAnnotation]
			past.cancelled = ""
			if due, err := time.Parse(time.RFC3339, said[eviction.DeadlineAnnotation]); err == nil {
				past.Due = &due
			}
		}
	}
	return past
}

// cancellation says when and why an eviction was cancelled, if the event names a probable cause; otherwise "".
func (e *Event) cancellation() string {
	says := func(why string) bool { return strings.Contains(e.Message, why) }
	if !says(eviction.OutageSpared) && !says(eviction.DeletedByDaemonSet) {
		return ""
	}
	_, cause, _ := strings.Cut(e.Message, ": ")
	cause, _, _ = strings.Cut(cause, "; it was to go")
	return "its eviction was cancelled at " + taint.Stamp(e.Time) + ": " + cause
}

// words says when and why a pod was evicted or, if an obstacle followed, when its eviction began. The first text begins
// with the parameter subject, such as "the pod was ", the second with the parameter owner, such as "the pod's ".
func (p *PastEviction) words(subject, owner string) string {
	from := ""
	if p.Node != "" {
		from = " from " + p.Node
	}
	text := subject + "evicted" + from + " at " + taint.Stamp(p.At)
	if p.ObstacleAt != nil && !p.ObstacleAt.Before(p.At) {
		text = owner + "eviction" + from + " began at " + taint.Stamp(p.At)
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

// addPast adds what events report: how a terminating or deleted pod, or its predecessor, was evicted, or what blocks an
// overdue pod. earlier has the events of earlier pods with this name.
func (m *Model) addPast(e *Explanation, p *pod, earlier map[types.UID][]Event) {
	past := pastOf(e.Events)
	switch {
	case p == nil || p.Terminating:
		e.History = m.historyOf(e, &past)
	case e.Overdue() && past.Obstacle != "":
		e.Blocker = "the eviction is " + past.Obstacle + " (event of " + taint.Stamp(*past.ObstacleAt) + ")"
		return
	case past.cancelled != "":
		e.History = past.cancelled
	default:
		past = predecessor(earlier)
		if !past.At.IsZero() {
			past.Predecessor, past.Node = true, cmp.Or(past.Node, m.killedOn(p, past.At))
			e.History = past.words("an earlier pod of this name was ", "the earlier pod's ")
		}
	}
	if !past.At.IsZero() {
		e.Past = &past
	}
}

// historyOf says how a terminating or deleted pod was evicted.
func (m *Model) historyOf(e *Explanation, past *PastEviction) string {
	switch cause := m.reading.EventsUnknown; {
	case !past.At.IsZero():
		return past.words("", "its ")
	case past.cancelled != "":
		return past.cancelled
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

// killedOn returns the node whose kubelet first stopped an earlier pod of this name at this time or later; "" if
// unknown.
func (m *Model) killedOn(p *pod, at time.Time) string {
	kills := m.eventsThat(func(e *v1.Event) bool {
		of := &e.InvolvedObject
		another := p.UID != "" && of.UID != "" && of.UID != p.UID
		return another && e.Reason == "Killing" && of.Namespace == p.Namespace && of.Name == p.Name &&
			!eventTime(e).Before(at)
	})
	if len(kills) == 0 {
		return ""
	}
	return kills[0].Source.Host
}

// eventsOf returns the events of this pod, and those of earlier pods of its name by their UIDs, in the order of their
// times. An event without a UID, such as the built-in controller's, belongs to an earlier pod if it is older than this
// pod. If the pod is gone, all events are its own.
func (m *Model) eventsOf(namespace, name string, p *pod) (own []Event, earlier map[types.UID][]Event) {
	earlier = map[types.UID][]Event{}
	about := func(e *v1.Event) bool {
		return e.InvolvedObject.Namespace == namespace && e.InvolvedObject.Name == name
	}
	for _, e := range m.eventsThat(about) {
		uid, event := e.InvolvedObject.UID, Event{*utc(eventTime(e)), e.Type, e.Reason, e.Message, e.Annotations}
		if p == nil || uid == p.UID && uid != "" || (uid == "" || p.UID == "") && !event.Time.Before(p.created) {
			own = append(own, event)
		} else {
			earlier[uid] = append(earlier[uid], event)
		}
	}
	return own, earlier
}

// eventsThat returns the events that satisfy a condition, in the order of their times, and then of their names.
func (m *Model) eventsThat(satisfy func(*v1.Event) bool) (list []*v1.Event) {
	for _, e := range m.events {
		if satisfy(e) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *v1.Event) int {
		return cmp.Or(eventTime(a).Compare(eventTime(b)), strings.Compare(a.Name, b.Name))
	})
	return list
}

// eventTime returns when an event happened last. Clients that write events fill in different fields.
func eventTime(e *v1.Event) time.Time {
	return cmp.Or(e.LastTimestamp.Time, e.EventTime.Time, e.FirstTimestamp.Time, e.CreationTimestamp.Time)
}
