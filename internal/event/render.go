package event

import (
	"cmp"
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

const (
	// component is the source that the built-in controller's events name; dashboards filter by it.
	component = "taint-eviction-controller"

	maxName        = 253 // the length of the longest name of an object
	drainedMessage = "The last pod that had to go because of taints is gone"
)

func tripMessage(e *breaker.Event) string {
	nodes := fmt.Sprintf("%d of %d nodes", e.Affected, e.Nodes)
	if e.Trip.Group != "" {
		nodes += " of " + e.Trip.Group
	}
	return "Breaker " + e.Trip.Breaker + " is tripped: " + nodes +
		" are affected, this one among them, and the evictions because of its taints are held"
}

// nodeEvent returns an event on a node. Kubelets use the node's name as UID in their events, and kubectl describe looks
// for that UID.
func nodeEvent(node, kind, reason, text string) *v1.Event {
	return newEvent(v1.ObjectReference{Kind: "Node", Name: node, UID: types.UID(node)}, kind, reason, text)
}

// podEvent returns the event for a note. Unless the pod stays, it has annotations for programs.
func podEvent(n *eviction.Note) *v1.Event {
	kind, reason, text := describe(n)
	pod := v1.ObjectReference{Kind: "Pod", Namespace: n.Pod.Namespace, Name: n.Pod.Name, UID: n.Pod.UID}
	e := newEvent(pod, kind, reason, text)
	if n.Kind != eviction.EvictionCancelled {
		e.Annotations = map[string]string{
			eviction.DeadlineAnnotation: taint.Stamp(n.Verdict.At),
			eviction.TaintAnnotation:    n.Verdict.Taint.ToString(),
			eviction.NodeAnnotation:     n.Verdict.Node,
			eviction.BoundAnnotation:    taint.Stamp(n.Pod.Bound),
			eviction.WorkloadAnnotation: n.Pod.Workload().String(),
		}
	}
	return e
}

func newEvent(about v1.ObjectReference, kind, reason, text string) *v1.Event {
	about.APIVersion = "v1"
	return &v1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: cmp.Or(about.Namespace, metav1.NamespaceDefault)},
		InvolvedObject: about, Type: kind, Reason: reason, Message: truncate.Text(text), Count: 1,
		Source: v1.EventSource{Component: component}, ReportingController: component,
	}
}

// stamp gives an event its times, and a name that no other event has.
func stamp(e *v1.Event, at time.Time, serial uint64) {
	e.Name = eventName(e.InvolvedObject.Name, at, serial)
	e.FirstTimestamp = metav1.NewTime(at)
	e.LastTimestamp = e.FirstTimestamp
}

// eventName returns a name that is unique and valid, however long the name of the event's subject is.
func eventName(about string, at time.Time, serial uint64) string {
	suffix := fmt.Sprintf(".%x-%x", at.UnixNano(), serial)
	about = about[:min(len(about), maxName-len(suffix))]
	return strings.TrimRight(about, ".-") + suffix
}

// describe returns the type, reason and message of a note's event. The first words of the message are those of the
// built-in controller.
func describe(n *eviction.Note) (kind, reason, text string) {
	kind, reason = v1.EventTypeNormal, "TaintManagerEviction"
	pod, due := n.Pod.Key()+" on node "+n.Verdict.Node, "due at "+taint.Stamp(n.Verdict.At)
	because, by := n.Verdict.Because(), ""
	if n.Policy != "" {
		by = "; policy " + n.Policy + " decides"
	}
	switch n.Kind {
	case eviction.EvictionCancelled:
		if n.Held.By != 0 {
			due += " and held by " + n.Held.String()
		}
		text = "Cancelling deletion of Pod " + pod + ", which was " + due + ": " + n.WhyStays() +
			"; it was to go because " + because
	case eviction.EvictionHeld:
		reason = "EvictionHeld"
		text = "Eviction of Pod " + pod + ", " + due + ", is held by " + n.Held.String() + ": " + because + by
	case eviction.EvictionStuck:
		kind, reason = v1.EventTypeWarning, "EvictionBlocked"
		text = fmt.Sprintf("Eviction of Pod %s, %s, is %s (%s), and will be tried again: %s", pod, due,
			n.Outcome.Stuck(), n.Outcome.Cause, n.Outcome.Message)
	default:
		text = "Marking for deletion Pod " + pod + ", " + due + ": " + because + by
	}
	return kind, reason, text
}
