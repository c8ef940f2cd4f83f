package event

import (
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/truncate"
	"github.com/taint-manager/taint-manager/taint"
)

// component is the source that the original's events name; dashboards filter by it.
const component = "taint-eviction-controller"

// Reasons of events.
const (
	reasonEviction = "TaintManagerEviction"
	reasonBlocked  = "EvictionBlocked"
	reasonHeld     = "EvictionHeld"
	reasonTripped  = "BreakerTripped"
	reasonDrained  = "Drained"
)

// maxName is the length of the longest name of an object.
const maxName = 253

// nodeNote is what an event on a node says.
type nodeNote struct{ kind, reason, message string }

func tripNote(e *breaker.Event) *nodeNote {
	where := ""
	if e.Trip.Group != "" {
		where = " of " + e.Trip.Group
	}
	return &nodeNote{v1.EventTypeWarning, reasonTripped, fmt.Sprintf(
		"Breaker %s is tripped: %d of %d nodes%s are affected, this one among them, and the evictions because of its taints are held",
		e.Trip.Breaker, e.Affected, e.Nodes, where)}
}

func drainedNote() *nodeNote {
	return &nodeNote{v1.EventTypeNormal, reasonDrained, "The last pod that had to go because of taints is gone"}
}

// render returns the event for a queued note.
func render(q *queuedNote) *v1.Event {
	about := v1.ObjectReference{APIVersion: "v1"}
	namespace, kind, reason, text := metav1.NamespaceDefault, v1.EventTypeNormal, reasonEviction, ""
	if q.onNode != nil {
		// Kubelets give the node's name as UID in their events, and kubectl describe looks for that.
		about.Kind, about.Name, about.UID = "Node", q.node, types.UID(q.node)
		kind, reason, text = q.onNode.kind, q.onNode.reason, q.onNode.message
	} else {
		pod := q.note.Pod
		about.Kind, about.Namespace, about.Name, about.UID = "Pod", pod.Namespace, pod.Name, pod.UID
		namespace, text = pod.Namespace, message(&q.note)
		switch q.note.Kind {
		case eviction.EvictionDelayed:
			kind, reason = v1.EventTypeWarning, reasonBlocked
		case eviction.EvictionHeld:
			reason = reasonHeld
		}
	}
	stamp := metav1.NewTime(q.at)
	return &v1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: eventName(about.Name, q.at, q.serial), Annotations: annotations(q),
		},
		InvolvedObject: about, Type: kind, Reason: reason, Message: truncate.Text(text),
		FirstTimestamp: stamp, LastTimestamp: stamp, Count: 1,
		Source: v1.EventSource{Component: component}, ReportingController: component,
	}
}

// annotations returns what programs read of an eviction; nil for an event that does not say that a pod goes.
func annotations(q *queuedNote) map[string]string {
	if q.onNode != nil || q.note.Kind == eviction.EvictionCancelled {
		return nil
	}
	v, pod := &q.note.Verdict, q.note.Pod
	return map[string]string{
		eviction.DeadlineAnnotation: taint.Stamp(v.At),
		eviction.TaintAnnotation:    v.Taint.ToString(),
		eviction.NodeAnnotation:     v.Node,
		eviction.BoundAnnotation:    taint.Stamp(pod.Bound),
		eviction.WorkloadAnnotation: pod.Workload().String(),
	}
}

// eventName returns a name that is unique and valid, however long the name of the event's subject is.
func eventName(about string, at time.Time, serial uint64) string {
	suffix := fmt.Sprintf(".%x-%x", at.UnixNano(), serial)
	if room := maxName - len(suffix); len(about) > room {
		about = strings.TrimRight(about[:room], ".-")
	}
	return about + suffix
}

// message returns the message of a note's event. Its first words are those of the original.
func message(n *eviction.Note) string {
	pod, due := n.Pod.Key()+" on node "+n.Verdict.Node, "due at "+taint.Stamp(n.Verdict.At)
	because, by, held := n.Verdict.Because(), "", ""
	if n.Policy != "" {
		by = "; policy " + n.Policy + " decides"
	}
	switch n.Kind {
	case eviction.EvictionCancelled:
		if n.Held.By != 0 {
			held = " and held by " + n.Held.String()
		}
		return "Cancelling deletion of Pod " + pod + ", which was " + due + held + ": " + n.WhyStays() +
			"; it was to go because " + because
	case eviction.EvictionHeld:
		return "Eviction of Pod " + pod + ", " + due + ", is held by " + n.Held.String() + ": " + because + by
	case eviction.EvictionDelayed:
		return fmt.Sprintf("Eviction of Pod %s, %s, is %s (%s), and will be tried again: %s", pod, due,
			n.Outcome.Obstacle(), n.Outcome.Cause, n.Outcome.Message)
	}
	return "Marking for deletion Pod " + pod + ", " + due + ": " + because + by
}
