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
	BecameDue            // it is deleted, or asked to go, now, and was not before
	BecameEarlier        // it is to go later than now, and was to go even later, or not at all
	BecameLater          // it is to go later than before
	BecameHeld           // it was to go, or to stay, and is held
	BecameFree           // it was to go, or held, and stays
)

// Diff counts the changes of pods.
type Diff struct {
	Pods                            int // all that were compared
	Due, Earlier, Later, Held, Free int
}

// Decider is [Set.Decide] with its facts.
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

// changeOfTimes is for a pod that is to go. What was due before now counts as due now.
func (v *Verdict) changeOfTimes(next *Verdict, now time.Time) Change {
	wasDeleted, isDeleted := v.Delete.from(now), next.Delete.from(now)
	was, is := min(v.Evict.from(now), wasDeleted), min(next.Evict.from(now), isDeleted)
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
