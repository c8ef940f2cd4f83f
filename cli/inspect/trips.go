package inspect

import (
	"fmt"

	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/guard"
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
	for _, r := range s.Resets(s.at) {
		notes = append(notes, tripped(r.Trip)+", and is reset at "+taint.Stamp(r.At)+" at the latest if nothing changes until then")
	}
	if s.Partial() && j.basis.Guarded() {
		notes = append(notes, "this user may not list nodes, so whether their taints trip a breaker is not known: only trips that the journal has count, pods may be held, and deleteAfter may count from later")
	}
	if s.UnknownEnds() {
		notes = append(notes, "the journal has the end of a hold for nodes with certain labels, and this user may not list nodes, so deleteAfter may count from later")
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
		return tripped(t) + "; name the manager's file with --config, so that the pods that it holds are shown"
	case t.Reset == "":
		return tripped(t) + "; this configuration has no such breaker, so the pods that it holds are not shown"
	case !t.Recorded:
		return fmt.Sprintf("breaker %s trips for %s by the taints of the nodes", t.Breaker, guard.GroupWords(t.Group))
	case !s.HeldKnown(t):
		return tripped(t) + "; it holds the pods of nodes with certain labels, and this user may not list nodes, so which pods it holds is not known: here none"
	case s.ResetUnknown(t, s.at):
		return tripped(t) + untilReset(t) + "; whether that comes before " + taint.Stamp(s.at) + " is not known, as this user may not list nodes"
	}
	return tripped(t) + untilReset(t)
}

// untilReset returns the end of a sentence that says what ends a trip; "" if that is not known.
func untilReset(t foresight.Trip) string {
	switch policy.Reset(t.Reset) {
	case policy.Manual:
		return ", until its resetBefore is set"
	case policy.Automatic:
		return ", until few enough nodes have been affected for its resetAfter"
	}
	return ""
}

// tripped says that a breaker is tripped for a group.
func tripped(t foresight.Trip) string {
	return "breaker " + guard.TripRecord{Breaker: t.Breaker, Group: t.Group, Began: t.Since}.Words()
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
