package sim

import (
	"math/rand/v2"
	"sort"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// stream is a process's watch of one resource: it lists, watches, breaks, and resumes or lists again.
type stream struct {
	w    *World
	p    *process
	r    *rand.Rand
	what string // its name in a trace
	pods bool

	pos      int           // position of the next event in the server's log
	listed   bool          // the first list has arrived
	listing  []func()      // called once the next list is complete
	open     bool          // the watch is open
	forgets  bool          // the server no longer has the version at which the watch broke off
	term     int           // number of breaks: functions scheduled before a break do not run
	planned  bool          // a delivery is scheduled
	quietTil time.Duration // nothing is delivered before that moment
	failures int
}

// later schedules a function for this term of the stream; it does not run while the process is frozen.
func (s *stream) later(d time.Duration, do func()) {
	term := s.term
	s.p.after(d, func() {
		if s.term == term {
			do()
		}
	})
}

// connect lists, or resumes the watch.
func (s *stream) connect() {
	if !s.w.server.answers() {
		s.failures++
		s.later(span(s.r, 400*time.Millisecond, 800*time.Millisecond)<<min(s.failures-1, 4), s.connect)
		return
	}
	s.failures = 0
	if !s.p.dispatcher.PausedSince().IsZero() {
		s.p.dispatcher.step(dispatch.ServerAnswered{})
	}
	if s.listed && !s.forgets {
		s.open = true
		s.w.say(s.p.name, "watches %s on", s.what)
		s.plan()
		return
	}
	s.list()
}

// list reads everything at one version, and delivers it a little later.
func (s *stream) list() {
	pos := len(s.w.server.log)
	if !s.listed && s.w.plan.stale && s.r.IntN(2) == 0 {
		after := s.w.now() - span(s.r, 0, 3*time.Second)
		pos = sort.Search(pos, func(i int) bool { return s.w.server.log[i].at > after })
		if pos < len(s.w.server.log) {
			s.w.counts["StaleLists"]++
		}
	}
	nodes, pods := s.w.server.stateAt(pos)
	version := s.w.server.versionAt(pos)
	s.later(span(s.r, 0, 5*time.Millisecond), func() {
		how := oracle.FirstListed
		if s.listed {
			how = oracle.Relisted
		}
		s.listed, s.forgets, s.open, s.pos = true, false, true, pos
		if s.pods {
			s.p.observer.ListedPods(s.w.now(), pods, how)
			listed(s, s.p.feed.Pods(), pods, "")
		} else {
			s.p.observer.ListedNodes(s.w.now(), nodes, int64(version), how)
			listed(s, s.p.feed.Nodes(), nodes, strconv.Itoa(version))
		}
		all := s.listing
		s.listing = nil
		for _, do := range all {
			do()
		}
		s.plan()
	})
}

// listAgain makes the process list again, and calls the function once the list is complete.
func (s *stream) listAgain(do func()) {
	s.forgets = true // also if it is broken now
	s.listing = append(s.listing, do)
	s.breaks(0, true)
}

// breaks ends the watch, which resumes after a while.
func (s *stream) breaks(lasts time.Duration, forgets bool) {
	if !s.open {
		return
	}
	s.w.say(s.p.name, "watch of %s breaks", s.what)
	s.term++
	s.open, s.planned = false, false
	s.forgets = s.forgets || forgets
	s.later(lasts, s.connect)
}

// plan schedules the next delivery, unless one is scheduled or there is nothing to deliver.
func (s *stream) plan() {
	if !s.open || s.planned {
		return
	}
	log := s.w.server.log
	for s.pos < len(log) && s.event(&log[s.pos]) == "" {
		s.pos++
	}
	if s.pos == len(log) {
		return
	}
	most := 2 * time.Millisecond
	if s.r.IntN(8) == 0 {
		most = s.w.plan.lag
	}
	s.planned = true
	s.later(max(log[s.pos].at+span(s.r, 0, most), s.quietTil)-s.w.now(), s.deliver)
}

func (s *stream) deliver() {
	if wait := s.quietTil - s.w.now(); wait > 0 {
		s.later(wait, s.deliver) // stalled meanwhile
		return
	}
	s.planned = false
	w := &s.w.server.log[s.pos]
	s.pos++
	s.p.shown(w, s.event(w))
	s.plan()
}

// event returns the type of the event that the write is for this stream, or "" if it is not one.
func (s *stream) event(w *written) watch.EventType {
	switch {
	case s.pods != (w.pod != nil):
		return ""
	case s.pods:
		return podEvent(w)
	case w.gone:
		return watch.Deleted
	}
	return watch.Modified
}

func podEvent(w *written) watch.EventType {
	before, now := watched(w.before), !w.gone && watched(w.pod)
	switch {
	case before && now:
		return watch.Modified
	case before:
		return watch.Deleted
	case now:
		return watch.Added
	}
	return ""
}

// stateAt returns the state at a position of the log: all nodes, and the pods that are watched.
func (s *server) stateAt(pos int) (nodes []*v1.Node, pods []*v1.Pod) {
	for i := range s.log[:pos] {
		switch w := &s.log[i]; {
		case w.node != nil:
			nodes = replaced(nodes, w.node, w.gone)
		default:
			pods = replaced(pods, w.pod, w.gone || !watched(w.pod))
		}
	}
	return nodes, pods
}

// versionAt returns the resourceVersion of a list at a position of the log.
func (s *server) versionAt(pos int) int {
	if pos == len(s.log) {
		return s.version
	}
	return s.log[pos].version - 1
}
