package foresight

import (
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// holdNotes returns the notes about what holds evictions: trips, a pause, or that these are not known.
func (m *Model) holdNotes(by *rulesAt, at time.Time) []string {
	var notes []string
	for _, t := range by.trips {
		notes = append(notes, m.tripNote(t, at))
	}
	for _, r := range by.resets {
		notes = append(notes, r.tripped()+", and is reset at "+taint.Stamp(r.at)+" at the latest if nothing "+
			"changes until then")
	}
	if m.partial() && m.rules.Guarded() {
		notes = append(notes, "this user may not list nodes, so whether their taints trip a breaker is not known: "+
			"only trips that the journal has count, pods may be held, and deleteAfter may count from later")
	}
	byLabels := func(h policy.HoldRecord) bool { return h.TopologyKey != "" }
	if m.Hidden() && m.rules.deletesLater() && m.guards.hasHold(byLabels) {
		notes = append(notes, "the journal has the end of a hold for nodes with certain labels, and this user may "+
			"not list nodes, so deleteAfter may count from later")
	}
	paused := func(h policy.HoldRecord) bool { return h.Holds && h.By == policy.ByPause }
	switch {
	case !m.rules.paused && m.guards.hasHold(paused):
		notes = append(notes, "the manager that has written the journal is paused: it starts no call, and here the "+
			"pods are judged as if it were not")
	case m.guards.record == nil && (m.rules.Guarded() || m.reading.Journal.failed()):
		notes = append(notes, m.reading.Journal.unguarded())
	}
	return notes
}

// tripNote returns the note about a trip.
func (m *Model) tripNote(t Trip, at time.Time) string {
	switch {
	case t.Reset == "" && m.rules.File == "":
		return t.tripped() + "; name the manager's file with --config, so that the pods that it holds are shown"
	case t.Reset == "":
		return t.tripped() + "; this configuration has no such breaker, so the pods that it holds are not shown"
	case !t.Recorded:
		return fmt.Sprintf("breaker %s trips for %s by the taints of the nodes", t.Breaker, guard.GroupWords(t.Group))
	case m.Hidden() && m.rules.usesLabels(t.Breaker):
		return t.tripped() + "; it holds the pods of nodes with certain labels, and this user may not list nodes, so " +
			"which pods it holds is not known: here none"
	case t.Reset == string(policy.Automatic) && m.partial() && m.readBefore(at).Before(at):
		return t.String() + "; whether that comes before " + taint.Stamp(at) + " is not known, as this user may " +
			"not list nodes"
	}
	return t.String()
}

// String says that the breaker is tripped for the group, and what ends the trip, if that is known.
func (t Trip) String() string {
	switch policy.Reset(t.Reset) {
	case policy.Manual:
		return t.tripped() + ", until its resetBefore is set"
	case policy.Automatic:
		return t.tripped() + ", until few enough nodes have been affected for its resetAfter"
	}
	return t.tripped()
}

// tripped says that the breaker is tripped for the group.
func (t Trip) tripped() string {
	return "breaker " + guard.TripRecord{Breaker: t.Breaker, Group: t.Group, Began: t.Since}.Words()
}
