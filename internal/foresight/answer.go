package foresight

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// APIVersion is the version of the answers in JSON.
const APIVersion = "taint-manager/v1alpha1"

// Rules are the rules of all answers. docs/semantics.md lists those of the original that differ.
const Rules = "taint-manager"

// Header begins each answer.
type Header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // Plan, Explanation or Pending

	// Rules are the rules by which the pods were judged: taint-manager.
	Rules string `json:"rules"`

	// At is the time of the question: of a plan, the time at which the nodes get the taints.
	At time.Time `json:"at"`
}

func header(kind string, at time.Time) Header { return Header{APIVersion, kind, Rules, *utc(at)} }

// Remarks end each answer.
type Remarks struct {
	// Trips are the breakers that are tripped; for a plan, with its changes.
	Trips []Trip `json:"trips,omitempty"`

	// Incomplete has a clause for each thing that is not known and that may change the answer. If it is not empty, an
	// empty list of pods proves nothing.
	Incomplete []string `json:"incomplete,omitempty"`

	// Warnings say what is probably not as it was meant.
	Warnings []string `json:"warnings,omitempty"`

	// Notes say what the answer does not take into account, and what concerns the question.
	Notes []string `json:"notes,omitempty"`
}

// Messages returns the notes.
func (r *Remarks) Messages() []string { return r.Notes }

// Cautions returns the warnings.
func (r *Remarks) Cautions() []string { return r.Warnings }

// All returns the warnings, the notes, and what the answer lacks.
func (r *Remarks) All() []string {
	all := slices.Concat(r.Warnings, r.Notes)
	if err := r.CannotSay(); err != nil {
		return append(all, err.Error())
	}
	return all
}

// CannotSay returns an error if the answer is incomplete.
func (r *Remarks) CannotSay() error {
	if len(r.Incomplete) == 0 {
		return nil
	}
	return errors.New("cannot say all: " + joined(r.Incomplete))
}

// PodRef identifies a pod of an answer.
type PodRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Node      string `json:"node"`
	Owner     *Owner `json:"owner,omitempty"`
}

func (p *pod) ref() PodRef {
	return PodRef{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Node, Owner: p.ownerOrNil()}
}

// Ref returns the identity of the pod.
func (p *PodRef) Ref() *PodRef { return p }

// String returns the namespace and the name.
func (p *PodRef) String() string { return p.Namespace + "/" + p.Name }

// doubts are the reasons why a manager may evict at other times than an answer says.
type doubts struct {
	unsure  bool // a start of a taint is known only as a range
	swapped bool // a taint may have started before its timeAdded
	asIfNow bool // a manager may have seen a trigger earlier
}

func (d *doubts) add(p *Prediction) {
	d.unsure = d.unsure || p.Earliest != nil
	d.swapped = d.swapped || p.isSwapped()
	d.asIfNow = d.asIfNow || p.SinceFrom == FromPolicy
}

const (
	// swappedNote is about predictions whose only source of the start of not-ready or unreachable is its timeAdded.
	swappedNote = "not-ready and unreachable count as one taint, whose time is reset whenever one " +
		"replaces the other: " +
		"a manager that has seen the first of them counts from then, and the pod goes earlier"

	// asIfNowNote is about deadlines that count from when a manager first saw a trigger, which no journal has.
	asIfNowNote = "a NoSchedule taint counts from when a manager with such a policy first saw it; where no journal " +
		"tells when, " +
		"here as if that were now, and a manager that saw it earlier evicts earlier"
)

// remarks returns the remarks on an answer about this time, by these rules. own are the notes of the question.
func (m *Model) remarks(by *rulesAt, at time.Time, d doubts, own []string) Remarks {
	notes := append(m.readingNotes(), own...)
	if cause := m.reading.Journal.Missing(); cause != "" && (d.unsure || d.swapped) {
		notes = append(notes, cause+", so since when a taint is there is known only where it has a timeAdded")
	}
	if d.swapped {
		notes = append(notes, swappedNote)
	}
	if d.asIfNow {
		notes = append(notes, asIfNowNote)
	}
	return Remarks{
		Trips: by.trips, Notes: append(notes, m.holdNotes(by, at)...), Warnings: slices.Clone(m.reading.Warnings),
	}
}

// readingNotes returns the notes on what was read.
func (m *Model) readingNotes() []string {
	notes := slices.Clone(m.reading.Notes)
	if m.reading.Dumped {
		notes = append(notes, m.missingFields()...)
	}
	if m.Hidden() && m.reading.Journal.Missing() == "" {
		notes = append(notes, "this user may not "+m.reading.Hidden+" nodes, so those taints count that the manager "+
			"has recorded in its journal")
	}
	return notes
}

// gaps returns a clause for each thing that is not known of the pods on these nodes, or on all if none is named.
func (m *Model) gaps(nodes []string) []string {
	return slices.Concat(m.unjudged(nodes), m.unknownNamespaces(), m.unknownMatches(nodes))
}

// staleNote returns the note that the journal of these nodes is no longer written, with the time at which the oldest
// partition with records of tainted ones was written. The partition of the guards counts if it has holds or trips.
func (m *Model) staleNote(nodes []string, at time.Time) []string {
	at = m.readBefore(at)
	var writings []time.Time
	for _, name := range m.tainted(nodes) {
		if r, ok := m.records[name]; ok && !isWritten(r.Writing, at) {
			writings = append(writings, r.Writing.At)
		}
	}
	holds := m.guards.hasHold(func(h policy.HoldRecord) bool { return h.Holds })
	if (holds || m.guards.record != nil && len(m.guards.record.Trips) > 0) && !isWritten(m.guards.writing, at) {
		writings = append(writings, m.guards.writing.At)
	}
	if len(writings) == 0 {
		return nil
	}
	return []string{"the journal was last written at " + taint.Stamp(slices.MinFunc(writings, time.Time.Compare)) +
		": no taint-manager seems to lead, so perhaps no pod is evicted"}
}

// Count returns a number of things: "1 pod", "3 pods".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// joined joins clauses into one.
func joined(clauses []string) string { return strings.Join(clauses, "; and ") }

// ShortList joins names. It counts the last names of a long list.
func ShortList(names []string) string {
	const most = 5
	if rest := len(names) - most; rest > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), rest)
	}
	return strings.Join(names, ", ")
}
