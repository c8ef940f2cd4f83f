package taint

import (
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Stay says why a pod stays.
type Stay uint8

// The reasons for which a pod stays.
const (
	_           Stay = iota
	NotTainted       // the node has no NoExecute taint
	Tolerated        // every taint is borne without a limit
	NodeUnknown      // the node is not known; pod garbage collection owns such pods
	Unbound          // the pod is bound to no node
	Finished         // the pod has succeeded or failed
	Terminating      // the pod is being deleted already
	Mirror           // the pod mirrors a static pod
)

// Verdict is what [Decide] says of one pod.
type Verdict struct {
	// Evict says whether the pod is to go. When false, only Stay and Node are set.
	Evict bool

	// Stay says why the pod stays; 0 when it is to go.
	Stay Stay

	// At is the deadline: the pod is to go then, and not earlier.
	At time.Time

	// Start is the start of the exposure: At is Start plus what the toleration grants.
	Start time.Time

	// Node is the name of the pod's node.
	Node string

	// Taint is the taint that makes the pod go.
	Taint *v1.Taint

	// Toleration is the toleration that bears Taint until At; nil when none matches it.
	Toleration *v1.Toleration
}

// sooner says whether v evicts earlier than other does.
func (v *Verdict) sooner(other *Verdict) bool {
	return v.Evict && (!other.Evict || v.At.Before(other.At))
}

// String is the verdict as one sentence, the same in logs, events, the command line and the page.
func (v Verdict) String() string {
	if !v.Evict {
		return "stays on node " + quoteEmpty(v.Node) + ": " + v.Stay.String()
	}
	return "to be evicted from node " + v.Node + " at " + Stamp(v.At) + ": " + v.Because()
}

// Because names the taint, since when the pod is exposed to it, and the toleration.
func (v Verdict) Because() string {
	if !v.Evict {
		return v.Stay.String()
	}
	exposed := "taint " + v.Taint.ToString() + " (exposed since " + Stamp(v.Start) + ") is "
	if v.Toleration == nil {
		return exposed + "not tolerated"
	}
	return exposed + fmt.Sprintf("tolerated for %d s by toleration %s",
		*v.Toleration.TolerationSeconds, tolerationString(v.Toleration))
}

// String is the reason as a clause: "the node has no NoExecute taint".
func (s Stay) String() string {
	switch s {
	case NotTainted:
		return "the node has no NoExecute taint"
	case Tolerated:
		return "every NoExecute taint of the node is tolerated without a limit"
	case NodeUnknown:
		return "the node is not known"
	case Unbound:
		return "the pod is bound to no node"
	case Finished:
		return "the pod has finished"
	case Terminating:
		return "the pod is being deleted already"
	case Mirror:
		return "the pod mirrors a static pod"
	}
	return "it is not to be evicted"
}

// Stamp is how times are written for people: UTC, with milliseconds only where there are some.
func Stamp(t time.Time) string {
	return t.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.999Z07:00")
}

// tolerationString writes a toleration as key, operator, value and effect, leaving out what is empty.
func tolerationString(t *v1.Toleration) string {
	operator := t.Operator
	if operator == "" {
		operator = v1.TolerationOpEqual
	}
	parts := []string{string(operator)}
	if t.Key != "" {
		parts = []string{t.Key, string(operator)}
	}
	if t.Value != "" {
		parts = append(parts, t.Value)
	}
	if t.Effect != "" {
		parts = append(parts, "for "+string(t.Effect))
	}
	return `"` + strings.Join(parts, " ") + `"`
}

func quoteEmpty(name string) string {
	if name == "" {
		return `""`
	}
	return name
}
