package policy

import (
	"iter"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// Change is the effect of another configuration on one pod.
type Change uint8

// The changes.
const (
	Unchanged     Change = iota
	BecameDue            // an action of it is due now, and was not before
	BecameEarlier        // its time is earlier than before, or it stayed before
	BecameLater          // its time is later than before
	BecameHeld           // it is held, and was to be evicted or to stay before
	BecameFree           // it stays, and was to be evicted or held before
)

// Diff counts the changes of pods.
type Diff struct {
	Pods                            int // all pods that were compared
	Due, Earlier, Later, Held, Free int
}

// Decider is [Judge.Decide].
type Decider func(pod *taint.Pod, node *taint.Node) Verdict

// Compare counts the changes of the pods, each with its node, if after decides instead of before.
func Compare(now time.Time, pods iter.Seq2[*taint.Pod, *taint.Node], before, after Decider) (d Diff) {
	for pod, node := range pods {
		was, is := before(pod, node), after(pod, node)
		d.Pods++
		switch was.ChangeTo(&is, now) {
		case BecameDue:
			d.Due++
		case BecameEarlier:
			d.Earlier++
		case BecameLater:
			d.Later++
		case BecameHeld:
			d.Held++
		case BecameFree:
			d.Free++
		}
	}
	return d
}

// ChangeTo returns what changes for a pod whose verdict becomes next.
func (v *Verdict) ChangeTo(next *Verdict, now time.Time) Change {
	switch {
	case next.Goes():
		return v.changeOfTimes(next, now)
	case next.Held.By != 0 && (v.Held.By == 0 || v.Goes()):
		return BecameHeld
	case next.Held.By == 0 && (v.Held.By != 0 || v.Goes()):
		return BecameFree
	}
	return Unchanged
}

// changeOfTimes compares the times of a pod that is to be evicted. A time before now counts as now.
func (v *Verdict) changeOfTimes(next *Verdict, now time.Time) Change {
	wasDeleted, isDeleted := v.Delete.from(now), next.Delete.from(now)
	was, is := min(v.Request.from(now), wasDeleted), min(next.Request.from(now), isDeleted)
	switch {
	case is == 0 && was > 0, isDeleted == 0 && wasDeleted > 0:
		return BecameDue
	case is != was:
		return earlierOrLater(is, was)
	}
	return earlierOrLater(isDeleted, wasDeleted)
}

func earlierOrLater(is, was time.Duration) Change {
	switch {
	case is < was:
		return BecameEarlier
	case is > was:
		return BecameLater
	}
	return Unchanged
}

// from returns the time until the action: 0 if it is due, and the longest duration if it never comes.
func (a *Action) from(now time.Time) time.Duration {
	if !a.Evict {
		return 1<<63 - 1
	}
	return max(0, a.At.Sub(now))
}
