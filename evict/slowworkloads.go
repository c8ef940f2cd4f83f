package evict

import (
	"maps"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// How long a workload counts as slow after its last slow call has ended: longer than any backoff, so that
// one that is tried once a minute does not take a slot each time; and how many may count as slow.
const (
	slowFor      = 2 * time.Minute
	maxWorkloads = 1024
)

// slowWorkloads are the workloads whose calls are slow, or were lately. The zero value has none. It is
// pure, and not safe for concurrent use.
type slowWorkloads struct {
	known    map[shard.Workload]slowWorkload
	snapshot shard.SlowWorkloads // the same as an immutable set; nil while there are none
	changes  int                 // how often that was made anew
	next     time.Time           // when some may be too old
}

// slowWorkload is the state of one workload.
type slowWorkload struct {
	calls int       // under way
	late  int       // those that have lasted longer than SlowAfter
	ended time.Time // when the last of these ended
}

// start records that a call starts. It reports whether that is counted.
func (s *slowWorkloads) start(pod *taint.Pod) bool {
	if len(s.known) == 0 {
		return false
	}
	w := shard.WorkloadOf(pod)
	known, ok := s.known[w]
	if ok {
		known.calls++
		s.set(w, known)
	}
	return ok
}

// late records that a call has lasted for SlowAfter; counted says that its start was counted. It reports
// whether its workload was not slow before.
func (s *slowWorkloads) late(pod *taint.Pod, counted bool) (isNew bool) {
	w := shard.WorkloadOf(pod)
	known, ok := s.known[w]
	known.late++
	if !counted {
		known.calls++
	}
	s.set(w, known)
	return !ok
}

// end records that a call has ended. One that was answered by admission within SlowAfter shows that its
// workload is slow no longer, if it started since that is known, and unless other calls of it still are late.
func (s *slowWorkloads) end(now time.Time, t Ticket, pod *taint.Pod, o eviction.Outcome) {
	if len(s.known) == 0 || !t.counted {
		return
	}
	w := shard.WorkloadOf(pod)
	known, ok := s.known[w]
	if !ok {
		return
	}
	known.calls = max(0, known.calls-1) // it may have been counted when the workload was slow before
	if t.late {
		known.late--
		known.ended = now
	} else if known.late == 0 && admitted(o) {
		delete(s.known, w)
		s.changed()
		return
	}
	s.set(w, known)
}

// set stores the state of a workload.
func (s *slowWorkloads) set(w shard.Workload, known slowWorkload) {
	if s.known == nil {
		s.known = map[shard.Workload]slowWorkload{}
	}
	before, ok := s.known[w]
	if !ok && len(s.known) >= maxWorkloads {
		s.dropOldest()
	}
	s.known[w] = known
	if !ok || (before.calls > 0) != (known.calls > 0) {
		s.changed()
	}
}

// admitted reports whether an outcome shows that admission has been asked, and has answered.
func admitted(o eviction.Outcome) bool {
	switch o.Kind {
	case eviction.Accepted, eviction.DryRun, eviction.Blocked:
		return true
	}
	return o.Cause == eviction.CauseAdmission || o.Cause == eviction.CauseWebhook
}

// expire drops what has not been slow for long.
func (s *slowWorkloads) expire(now time.Time) {
	if len(s.known) == 0 || now.Before(s.next) {
		return
	}
	s.next = now.Add(slowFor / 8)
	before := len(s.known)
	maps.DeleteFunc(s.known, func(_ shard.Workload, w slowWorkload) bool {
		return w.calls == 0 && now.Sub(w.ended) >= slowFor
	})
	if len(s.known) < before {
		s.changed()
	}
}

// dropOldest makes room for another one. Calls under way are fewer than there is room for.
func (s *slowWorkloads) dropOldest() {
	var oldest shard.Workload
	found := false
	for w, known := range s.known {
		if known.calls == 0 && (!found || known.ended.Before(s.known[oldest].ended)) {
			oldest, found = w, true
		}
	}
	delete(s.known, oldest)
}

// changed makes the snapshot anew.
func (s *slowWorkloads) changed() {
	s.changes++
	s.snapshot = nil
	for w, known := range s.known {
		if s.snapshot == nil {
			s.snapshot = make(shard.SlowWorkloads, len(s.known))
		}
		s.snapshot[w] = known.calls > 0
	}
}
