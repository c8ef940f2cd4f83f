package foresight

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// arithmetic explains step by step what one taint of the node would do to the pod if it were the only one: its
// start, the start of the exposure, how long it is tolerated, and the deadline.
func (n *node) arithmetic(p *pod, t *v1.Taint, e *ExplainedTaint, at time.Time) []string {
	steps := []string{n.since(t, e, at)}
	if f := e.Prediction; f.Evict {
		switch start := *f.ExposedSince; {
		case f.ExposedSinceEarliest != nil:
			steps = append(steps, "it counts from "+taint.Stamp(start)+" at the latest, "+
				taint.Stamp(*f.ExposedSinceEarliest)+" at the earliest")
		case start.After(*e.Since) && start.Equal(p.Bound):
			steps = append(steps, "the pod was bound later, so it counts from "+taint.Stamp(start))
		case start.Before(*e.Since):
			steps = append(steps, "before, it was there as one that the pod does not tolerate without a limit "+
				"either, so it counts from "+taint.Stamp(start))
		default:
			steps = append(steps, "it counts from "+taint.Stamp(start))
		}
	}
	if e.Prediction.Policy != "" || e.Prediction.HeldBy != "" {
		return append(steps, byPolicy(e))
	}
	switch {
	case e.Toleration == "":
		return append(steps, "no toleration matches it, so the pod goes then")
	case e.TolerationSeconds == nil:
		return append(steps, "it is tolerated without a limit")
	case !e.Prediction.Evict:
		return append(steps, fmt.Sprintf("it is tolerated for %d s, which is without a limit", *e.TolerationSeconds))
	}
	last := fmt.Sprintf("it is tolerated for %d s, until %s", *e.TolerationSeconds, taint.Stamp(*e.Prediction.At))
	if e.Prediction.Earliest != nil {
		last += " at the latest, " + taint.Stamp(*e.Prediction.Earliest) + " at the earliest"
	}
	return append(steps, last)
}

// since returns the step about the start of a taint and the source of that time.
func (n *node) since(t *v1.Taint, e *ExplainedTaint, at time.Time) string {
	added, created := "it has no timeAdded", n.object.CreationTimestamp.Time
	switch {
	case t.TimeAdded == nil || t.TimeAdded.IsZero():
	case t.TimeAdded.After(at):
		added = "its timeAdded, " + taint.Stamp(t.TimeAdded.Time) + ", is in the future and ignored"
	case t.TimeAdded.Time.Before(created):
		added = "its timeAdded, " + taint.Stamp(t.TimeAdded.Time) + ", is before the node's creation and ignored"
	}
	switch e.SinceFrom {
	case FromJournal:
		return "the journal has it since " + taint.Stamp(*e.Since)
	case FromPolicy:
		return "no journal has it, so it counts as if a manager with such a policy " +
			"first saw it at " + taint.Stamp(*e.Since)
	case FromTimeAdded:
		return "its timeAdded is " + taint.Stamp(t.TimeAdded.Time) + ", cut to whole seconds, so it is " +
			"there since " + taint.Stamp(*e.Since)
	case NotKnown:
		return added + ", and no journal has it: it came between " + taint.Stamp(created) + ", when the node " +
			"was made, and " + taint.Stamp(*e.Since)
	}
	return added + ", and no journal has it: it is there since " + taint.Stamp(*e.Since)
}

// byPolicy returns the last step if a policy or a breaker decides.
func byPolicy(e *ExplainedTaint) string {
	own := "no toleration matches it"
	switch {
	case e.TolerationSeconds != nil:
		own = fmt.Sprintf("it is tolerated for %d s", *e.TolerationSeconds)
	case e.Toleration != "":
		own = "it is tolerated without a limit"
	}
	switch f := e.Prediction; {
	case f.Evict && f.DeleteAt != nil:
		return fmt.Sprintf("%s; policy %s sets its deadline to %s, and deletes "+
			"it from %s on", own, f.Policy, taint.Stamp(*f.At), taint.Stamp(*f.DeleteAt))
	case f.Evict && f.Policy != "":
		return fmt.Sprintf("%s; policy %s sets its deadline to %s", own, f.Policy, taint.Stamp(*f.At))
	case f.Evict:
		return fmt.Sprintf("%s; its deadline is %s", own, taint.Stamp(*f.At))
	case f.HeldBy != "":
		return fmt.Sprintf("%s; held by %s, it would go at %s", own, f.HeldBy, taint.Stamp(*f.HeldDeadline))
	}
	return own + "; policy " + e.Prediction.Policy + " ignores it"
}
