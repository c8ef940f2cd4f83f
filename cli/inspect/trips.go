package inspect

import (
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// held returns the notes about what holds evictions: trips, a pause, or that these are not known.
func (j *judging) held(s *seen, trips []foresight.Trip) []string {
	var notes []string
	for _, t := range trips {
		notes = append(notes, j.tripNote(s, t))
	}
	if s.Partial() && j.basis.Guarded() {
		notes = append(notes, "this user may not list nodes, so whether their taints trip a breaker is not known: only trips that the journal has count, pods may be held, and deleteAfter may count from later")
	}
	switch {
	case s.PauseRecorded() && !j.settings.Paused:
		notes = append(notes, "the manager that has written the journal is paused: it starts no call, and here the pods are judged as if it were not")
	case !s.GuardsKnown() && (j.basis.Guarded() || s.journal.failed()):
		notes = append(notes, s.journal.unguarded())
	}
	return notes
}

// tripNote returns the note about a trip.
func (j *judging) tripNote(s *seen, t foresight.Trip) string {
	switch {
	case t.Reset == "" && j.file == "":
		return tripped(t.Breaker, t.Group, t.Since) + "; name the manager's file with --config, so that the pods that it holds are shown"
	case t.Reset == "":
		return tripped(t.Breaker, t.Group, t.Since) + "; this configuration has no such breaker, so the pods that it holds are not shown"
	case !t.Recorded:
		return fmt.Sprintf("breaker %s trips for %s by the taints of the nodes", t.Breaker, groupOf(t.Group))
	case !s.HeldKnown(t):
		return tripped(t.Breaker, t.Group, t.Since) + "; it holds the pods of nodes with certain labels, and this user may not list nodes, so which pods it holds is not known: here none"
	case t.Reset == string(policy.Manual):
		return tripped(t.Breaker, t.Group, t.Since) + ", until its resetBefore is set"
	}
	return tripped(t.Breaker, t.Group, t.Since) + ", until few enough nodes have been affected for its resetAfter"
}

// tripped says that a breaker is tripped for a group.
func tripped(breaker, group string, since time.Time) string {
	return fmt.Sprintf("breaker %s is tripped for %s since %s", breaker, groupOf(group), taint.Stamp(since))
}

func groupOf(group string) string {
	if group == "" {
		return "the whole cluster"
	}
	return group
}

// failed reports whether the partition of the guards exists, or may exist, and can't be read.
func (p *pages) failed() bool { return p.found[journal.GuardsPartition].err != nil }

// unguarded returns the note that the journal's record of guards and holds is not known.
func (p *pages) unguarded() string {
	why := p.missing()
	if why == "" {
		why = "the journal has no record of guards and holds"
	}
	return why + ", so whether a breaker has tripped or the manager is paused is not known: pods may be held, and deleteAfter may count from later"
}
