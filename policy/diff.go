package policy

import (
	"cmp"
	"iter"
	"math"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// Diff counts the pods whose verdicts another configuration changes.
type Diff struct {
	Pods    int // all pods that were compared
	Due     int // an action of the pod is due now, and was not before
	Earlier int // the pod's time is earlier than before, or the pod stayed before
	Later   int // the pod's time is later than before
	Held    int // the pod is held, and was to be evicted or to stay before
	Free    int // the pod stays, and was to be evicted or held before
}

// Decider is [Judge.Decide].
type Decider func(pod *taint.Pod, node *taint.Node) Verdict

// Compare counts how verdicts change between the deciders before and after. pods yields each pod with its node.
func Compare(now time.Time, pods iter.Seq2[*taint.Pod, *taint.Node], before, after Decider) (d Diff) {
	for pod, node := range pods {
		was, is := before(pod, node), after(pod, node)
		d.add(&was, &is, now)
	}
	return d
}

// add counts one pod by its verdict before and after the change.
func (d *Diff) add(was, is *Verdict, now time.Time) {
	wasFirst, wasDeleted := was.times(now)
	isFirst, isDeleted := is.times(now)
	sooner := cmp.Or(cmp.Compare(isFirst, wasFirst), cmp.Compare(isDeleted, wasDeleted))
	d.Pods++
	switch evicts := is.Evicts(); {
	case evicts && (isFirst == 0 && wasFirst > 0 || isDeleted == 0 && wasDeleted > 0):
		d.Due++
	case evicts && sooner < 0:
		d.Earlier++
	case evicts && sooner > 0:
		d.Later++
	case evicts:
	case is.Held.By != 0 && (was.Held.By == 0 || was.Evicts()):
		d.Held++
	case is.Held.By == 0 && (was.Held.By != 0 || was.Evicts()):
		d.Free++
	}
}

// times returns the times until the first action and until the deletion: 0 if they are due.
func (v *Verdict) times(now time.Time) (first, deleted time.Duration) {
	deleted = v.Delete.from(now)
	return min(v.Request.from(now), deleted), deleted
}

// from returns the time until the action: 0 if it is due, and the longest duration if there is no action.
func (a *Action) from(now time.Time) time.Duration {
	if !a.Evict {
		return math.MaxInt64
	}
	return max(0, a.At.Sub(now))
}
