package event

import (
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// component is the source that the original's events name; dashboards filter by it.
const component = "taint-eviction-controller"

// Reasons of events.
const (
	reasonEviction = "TaintManagerEviction"
	reasonBlocked  = "EvictionBlocked"
	reasonHeld     = "EvictionHeld"
)

// maxName is the length of the longest name of an object.
const maxName = 253

// render returns the event for a queued note; serial distinguishes the events of one moment.
func render(e *queuedNote, serial uint64) *v1.Event {
	if e.onNode != nil {
		event := blank(metav1.NamespaceDefault, e.node, e.at, serial)
		// Kubelets give the node's name as UID in their events, and kubectl describe looks for that.
		event.InvolvedObject = v1.ObjectReference{Kind: "Node", APIVersion: "v1", Name: e.node, UID: types.UID(e.node)}
		event.Type, event.Reason, event.Message = e.onNode.kind, e.onNode.reason, e.onNode.message
		return event
	}
	pod := e.note.Pod
	event := blank(pod.Namespace, pod.Name, e.at, serial)
	event.InvolvedObject = v1.ObjectReference{
		Kind: "Pod", APIVersion: "v1", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
	}
	event.Type, event.Reason, event.Message = v1.EventTypeNormal, reasonEviction, message(&e.note)
	switch e.note.Kind {
	case eviction.EvictionDelayed:
		event.Type, event.Reason = v1.EventTypeWarning, reasonBlocked
	case eviction.EvictionHeld:
		event.Reason = reasonHeld
	}
	return event
}

// blank returns an event without its subject and its message.
func blank(namespace, about string, at time.Time, serial uint64) *v1.Event {
	stamp := metav1.NewTime(at)
	return &v1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: namespace, Name: eventName(about, at, serial)},
		FirstTimestamp:      stamp,
		LastTimestamp:       stamp,
		Count:               1,
		Source:              v1.EventSource{Component: component},
		ReportingController: component,
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
