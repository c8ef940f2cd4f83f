package taint

import (
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Stay is the reason why a pod stays.
type Stay uint8

// The reasons for which a pod stays.
const (
	_           Stay = iota
	NotTainted       // the node has no NoExecute taint
	Tolerated        // every taint is tolerated forever
	NodeUnknown      // the node is unknown; pod garbage collection owns such pods
	Unbound          // the pod is not bound to a node
	Finished         // the pod has succeeded or failed
	Terminating      // the pod is already being deleted
	Mirror           // the pod mirrors a static pod
)

// Verdict is the result of [Decide] for one pod.
type Verdict struct {
	// Evict reports whether the pod is to be evicted. If it is false, only Stay and Node are set.
	Evict bool

	// Stay is the reason why the pod stays; 0 if it is to be evicted.
	Stay Stay

	// At is the deadline: the pod is evicted then, and not earlier.
	At time.Time

	// Start is the start of the exposure: At is Start plus the toleration's seconds.
	Start time.Time

	// Node is the name of the pod's node.
	Node string

	// Taint is the taint that causes the eviction.
	Taint *v1.Taint

	// Toleration is the toleration that tolerates Taint until At; nil if none matches it.
	Toleration *v1.Toleration
}

// sooner reports whether v evicts earlier than other.
func (v *Verdict) sooner(other *Verdict) bool {
	return v.Evict && (!other.Evict || v.At.Before(other.At))
}

// String returns the verdict as one sentence, the same in logs, events, the command line and the page.
func (v Verdict) String() string {
	if !v.Evict {
		return "stays on node " + quoteEmpty(v.Node) + ": " + v.Stay.String()
	}
	return "to be evicted from node " + v.Node + " at " + Stamp(v.At) + ": " + v.Because()
}

// Because returns the reason: the taint, the start of the countdown, and the toleration.
func (v Verdict) Because() string {
	if !v.Evict {
		return v.Stay.String()
	}
	is := "taint " + v.Taint.ToString() + " (countdown started at " + Stamp(v.Start) + ") is "
	switch {
	case v.Toleration == nil:
		return is + "not tolerated"
	case v.Toleration.TolerationSeconds == nil: // a policy limits it
		return is + "tolerated forever by toleration " + tolerationString(v.Toleration)
	}
	return is + "tolerated for " + BriefSeconds(*v.Toleration.TolerationSeconds) + " by toleration " +
		tolerationString(v.Toleration)
}

// String returns the reason as a clause: "the node has no NoExecute taint".
func (s Stay) String() string {
	switch s {
	case NotTainted:
		return "the node has no NoExecute taint"
	case Tolerated:
		return "every NoExecute taint of the node is tolerated forever"
	case NodeUnknown:
		return "the node is not known"
	case Unbound:
		return "the pod is bound to no node"
	case Finished:
		return "the pod has finished"
	case Terminating:
		return "the pod is already being deleted"
	case Mirror:
		return "the pod mirrors a static pod"
	}
	return "it is not to be evicted"
}

// Stamp formats a time for people: UTC, with milliseconds only if they are not zero.
func Stamp(t time.Time) string {
	return t.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.999Z07:00")
}

// Brief formats a duration for people, without the units at its end that are zero: "5m" instead of "5m0s".
func Brief(d time.Duration) string {
	written := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if short, ok := strings.CutSuffix(written, zero); ok {
			written = short + zero[:1]
		}
	}
	return written
}

// BriefSeconds formats a number of seconds as [Brief] does, even one that no duration can hold.
func BriefSeconds(seconds int64) string {
	if d := time.Duration(seconds) * time.Second; int64(d/time.Second) == seconds {
		return Brief(d)
	}
	return fmt.Sprintf("%ds", seconds)
}

// tolerationString formats a toleration as "kubectl describe pod" does, but without its seconds.
func tolerationString(t *v1.Toleration) string {
	text := t.Key
	if t.Value != "" {
		text += "=" + t.Value
	}
	if t.Effect != "" {
		text += ":" + string(t.Effect)
	}
	if t.Operator != "" && t.Operator != v1.TolerationOpEqual {
		text += " op=" + string(t.Operator)
	}
	return `"` + strings.TrimPrefix(text, " ") + `"`
}

func quoteEmpty(name string) string {
	if name == "" {
		return `""`
	}
	return name
}
