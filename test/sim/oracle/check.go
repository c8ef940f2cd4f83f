package oracle

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Violation is a broken promise.
type Violation struct {
	Rule string // a short name, the same for all violations of one promise
	Text string
}

// Error returns the rule and the text.
func (v *Violation) Error() string { return v.Rule + ": " + v.Text }

// Broken returns a violation of a promise.
func Broken(rule, format string, args ...any) error {
	return &Violation{rule, fmt.Sprintf(format, args...)}
}

// The promises.
const (
	Early     = "never early"
	Stays     = "never a pod that stays"
	OtherUID  = "never another UID"
	Second    = "never a second DELETE after an accepted one was known"
	Wait      = "a wait after a failure is never cut short"
	Pending   = "nothing due without an attempt pending"
	Late      = "deadlines do not move"
	Empty     = "the queue holds nothing for pods that are gone or stay"
	Leading   = "only a leader deletes"
	Records   = "a record tells what its writer was shown"
	Confirmed = "the node is confirmed live"
	Behind    = "at a quiet end all that is due is gone"
)

const (
	longestWait      = time.Minute     // the longest time for which a call may be put off after a failure
	longestConfirmed = 5 * time.Second // the largest age of a GET that confirms a request
)

// Held is the state that a process has of a pod. Deadline is the time of the verdict; At is the earliest start of
// the next call.
type Held struct {
	Queued, Calling, Accepted bool
	Deadline, At              time.Duration
}

// Settled judges the state of a process that has processed everything it was shown, and that holds this number of
// evictions.
func (p *Process) Settled(at time.Duration, queued int, held map[types.UID]Held) error {
	for _, s := range p.pods {
		if s.gone {
			continue
		}
		h := held[s.pod.UID]
		if h.Queued {
			queued--
		}
		if err := p.settled(at, s, h); err != nil {
			return err
		}
	}
	if queued != 0 {
		return Broken(Empty, "%s holds pods that are gone", p.Name)
	}
	return nil
}

func (p *Process) settled(at time.Duration, s *podView, h Held) error {
	v := p.evaluate(s)
	switch {
	case h.Accepted && !s.accepted:
		return Broken(Pending, "%s takes pod %s for accepted, which no answer has shown", p.Name, s.pod.UID)
	case !v.evict && h.Queued:
		return Broken(Empty, "%s holds pod %s, due at %v, which stays: %s", p.Name, s.pod.UID, h.Deadline, v.cause)
	case !v.evict || h.Calling || h.Accepted || p.oracle.Governed && !h.Queued:
		return nil
	case !h.Queued:
		return Broken(Pending, "%s holds nothing for pod %s, which is to go between %v and %v: %s", p.Name,
			s.pod.UID, v.lo, v.hi, v.cause)
	case h.At > max(h.Deadline, at+longestWait):
		return Broken(Pending, "%s puts pod %s off from %v until %v", p.Name, s.pod.UID, at, h.At)
	}
	return p.within(s, v, h.Deadline)
}

// within requires the deadline to be within its bounds. Policies and breakers may put it off.
func (p *Process) within(s *podView, v verdict, deadline time.Duration) error {
	if deadline < v.lo {
		return Broken(Early, "%s plans pod %s for %v, before %v: %s", p.Name, s.pod.UID, deadline, v.lo, v.cause)
	}
	const cutOff = Far - 24*time.Hour // moments are cut off at Far, each by its own clock
	if deadline > v.hi && v.hi < cutOff && !p.oracle.Governed {
		return Broken(Late, "%s plans pod %s for %v, after %v: %s", p.Name, s.pod.UID, deadline, v.hi, v.cause)
	}
	return nil
}

// Called judges the start of a call. deadline is the deadline that the call is based on; attempt counts the calls since
// the eviction was scheduled, from 1.
func (p *Process) Called(at time.Duration, uid types.UID, deadline time.Duration, attempt int) error {
	s := p.pod(uid)
	if s == nil {
		return Broken(Stays, "%s calls for pod %s, which it was shown to be gone", p.Name, uid)
	}
	v := p.evaluate(s)
	switch {
	case attempt > 1 && at < s.notBefore:
		return Broken(Wait, "%s calls for pod %s at %v, and was to wait until %v", p.Name, uid, at, s.notBefore)
	case !v.evict:
		return Broken(Stays, "%s calls for pod %s, which stays: %s", p.Name, uid, v.cause)
	case at < v.lo:
		return Broken(Early, "%s calls for pod %s at %v, before %v: %s", p.Name, uid, at, v.lo, v.cause)
	case p.oracle.Rated:
		v.hi = Far // the call may be because of a taint that is due later
	}
	return p.within(s, v, deadline)
}

// Writes judges a request that writes a pod; sent and served are the moments of the last GET of its node.
func (p *Process) Writes(at time.Duration, uid types.UID, sent, served time.Duration) error {
	s := p.pod(uid)
	if s == nil {
		return Broken(Stays, "%s goes on with pod %s, which it was shown to be gone", p.Name, uid)
	}
	if v := p.evaluate(s); !v.evict || sent < v.lo {
		return Broken(Stays, "%s goes on with pod %s, whose verdict has changed: %+v", p.Name, uid, v)
	}
	k := p.node(s.pod.Spec.NodeName)
	live, there := p.oracle.nodes[k.node.UID].at(served)
	switch {
	case !there:
		return Broken(Confirmed, "%s goes on with pod %s, whose node is gone", p.Name, uid)
	case k.version < live.version:
		return Broken(Confirmed, "%s goes on with pod %s, and has seen its node at version %d of %d", p.Name, uid,
			k.version, live.version)
	case at-sent > longestConfirmed:
		return Broken(Confirmed, "%s writes pod %s at %v, and has asked for its node at %v", p.Name, uid, at, sent)
	}
	return nil
}

// Ended records that a call has ended, and the shortest wait until the next one.
func (p *Process) Ended(at time.Duration, uid types.UID, wait time.Duration) {
	p.ever(uid).notBefore = at + wait
}

// Planned returns the number of pods for which the process must have an eviction scheduled.
func (p *Process) Planned() (n int) {
	for _, s := range p.pods {
		if !s.gone && p.evaluate(s).evict && !s.accepted {
			n++
		}
	}
	return n
}

// Deletes judges a DELETE or an eviction that is sent.
func (p *Process) Deletes(uid, precondition types.UID, leading bool) error {
	s := p.ever(uid)
	switch {
	case precondition != uid:
		return Broken(OtherUID, "%s sends a DELETE for pod %s with UID %q", p.Name, uid, precondition)
	case !leading:
		return Broken(Leading, "%s sends a DELETE for pod %s and does not lead", p.Name, uid)
	case s.gone || !p.evaluate(s).evict:
		return Broken(Stays, "%s sends a DELETE for pod %s, which it was shown to stay or to be gone", p.Name, uid)
	case s.arrived > s.lost:
		return Broken(Second, "%s sends DELETE %d for pod %s; %d answers were lost", p.Name, s.arrived+1, uid, s.lost)
	case s.lost > 0:
		p.oracle.Seen["Repeated"]++
	}
	return nil
}

// Arrived records that the API server has accepted a DELETE: meant is the pod that the process meant, and deleted is
// the pod that the API server has deleted. Both have to be the same.
func (p *Process) Arrived(meant, deleted types.UID) error {
	p.ever(meant).arrived++
	if meant != deleted {
		return Broken(OtherUID, "%s meant pod %s and deleted %s", p.Name, meant, deleted)
	}
	return nil
}

// Answered records whether the process has received the answer to an accepted DELETE; if not, the answer is lost.
func (p *Process) Answered(uid types.UID, got bool) {
	s := p.ever(uid)
	if got {
		s.accepted = true
	} else {
		s.lost++
		p.oracle.Seen["LostAnswers"]++
	}
}

// Ends judges the end of the world. Since the moment quiet no request fails and a process leads. A pod that is due
// must be gone once its deadline has passed by more than grace, unless it is held. If held is nil, no pod is.
func (p *Process) Ends(at, quiet, grace time.Duration, held func(*v1.Pod) bool) error {
	for _, story := range p.oracle.pods {
		pod := story.pod
		over := story.gone || finished(pod) || pod.DeletionTimestamp != nil
		if over || story.bound == none || held != nil && held(pod) {
			continue
		}
		s := p.pod(pod.UID)
		if s == nil {
			return Broken(Behind, "%s does not know pod %s", p.Name, pod.UID)
		}
		if v := p.evaluate(s); v.evict && v.hi+grace < at {
			return Broken(Behind, "pod %s is still there, due at %v at the latest: %s", pod.UID, v.hi, v.cause)
		}
		if due := p.oracle.dueBy(story, quiet); later(due, grace) < at {
			return Broken(Behind, "pod %s is still there, due at %v by what was true", pod.UID, due)
		}
	}
	return nil
}

// dueBy returns the latest deadline that a pod may have by the true history alone, for a process that has seen
// nothing before the moment quiet; Far if the pod stays.
func (o *Oracle) dueBy(story *podStory, quiet time.Duration) time.Duration {
	due := Far
	for _, node := range o.nodes {
		if node.name != story.pod.Spec.NodeName || node.gone != none || mirrors(story.pod) {
			continue
		}
		now := &node.versions[len(node.versions)-1]
		for i := range now.taints {
			t := &now.taints[i]
			tolerated, forever := tolerates(story.pod.Spec.Tolerations, t.Key, t.Value)
			if t.Effect == v1.TaintEffectNoExecute && !forever {
				due = min(due, later(max(story.bound, node.setAt(now.version, t), quiet), tolerated))
			}
		}
	}
	return due
}
