package foresight

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// doubts are the reasons why a manager may evict pods at other times than an answer says.
type doubts struct {
	unsure  bool // a start of a taint is known only as a range
	swapped bool // a taint may have started before its timeAdded, which each swap of not-ready and unreachable resets
	asIfNow bool // a manager may have seen a trigger earlier
	noted   bool // a start is from the journal
}

func (d *doubts) add(p *Prediction) {
	d.unsure = d.unsure || p.Earliest != nil
	d.swapped = d.swapped || p.SinceFrom == FromTimeAdded && isManaged(withoutValue(p.Taint))
	d.asIfNow = d.asIfNow || p.SinceFrom == FromPolicy
	d.noted = d.noted || p.SinceFrom == FromJournal
}

// remarks returns the remarks on an answer about this time, by these rules, which are compared with others. own are
// notes on the question itself.
func (m *Model) remarks(d doubts, own []string, by *rulesAt, others ...*rulesAt) Remarks {
	r := m.readingRemarks()
	r.Trips, r.Notes = by.trips, append(r.Notes, own...)
	if cause := m.reading.Journal.Missing(); cause != "" && d.unsure {
		r.note("evictions shown as \"within\" may happen earlier, because it is unknown when their taints were set: their field timeAdded is missing or invalid, and %s", cause)
	}
	if d.swapped {
		r.note("not-ready and unreachable share one countdown: if taint-manager saw the other taint earlier, the " +
			"eviction is sooner than shown")
	}
	if d.asIfNow {
		r.note("the countdown of a NoSchedule taint starts when taint-manager, with the policy, first sees the taint; without a " +
			"journal entry, this answer assumes now; if taint-manager saw the taint earlier, the eviction is sooner than " +
			"shown")
	}
	if ahead := m.reading.Journal.ahead(); ahead > 0 && d.noted && !m.reading.Dumped { // a dump has no clock
		r.note("taint-manager's clock is at least %s ahead of the API server's: evictions may come sooner than shown, by as "+
			"much as that; run NTP on its node", ahead.Round(time.Second))
	}
	guarded := slices.ContainsFunc(append(others, by), func(o *rulesAt) bool { return o.ruleset.Guarded() })
	m.noteHolds(&r, by, guarded)
	return r
}

// readingRemarks returns the remarks on what was read.
func (m *Model) readingRemarks() Remarks {
	r := Remarks{
		By: m.by(), Notes: slices.Clone(m.reading.Notes), Warnings: slices.Clone(m.reading.Warnings),
		WarnFirst: m.reading.premature,
	}
	if m.reading.Dumped {
		m.noteLacks(&r)
	}
	return r
}

// noteHolds adds notes about what holds evictions: trips and a pause, or that these are unknown, which matters if the
// rules are guarded.
func (m *Model) noteHolds(r *Remarks, by *rulesAt, guarded bool) {
	for _, t := range by.trips {
		r.note("%s", m.tripNote(t))
	}
	r.Notes = slices.Concat(r.Notes, by.resets, by.idle)
	j := m.reading.Journal
	pauses := func(h policy.HoldRecord) bool { return h.Holds && h.By == policy.ByPause }
	if m.rules.paused || j.guards != nil && slices.ContainsFunc(j.guards.Holds, pauses) {
		r.note("taint-manager is paused and starts no eviction; these times apply once it is resumed, except for pods " +
			"that the DaemonSet controller deletes")
	}
	if j.guards == nil && (guarded || j.read[journal.StateObject].err != nil) && !m.unmanaged() {
		r.note("%s, so tripped breakers and pauses are unknown; pods may be held, and deleteAfter may start later",
			cmp.Or(j.Missing(), "the journal has no record of breakers and pauses"))
	}
}

// tripNote returns the note about a trip.
func (m *Model) tripNote(t Trip) string {
	switch {
	case t.Reset != "" && t.Recorded:
		return t.String()
	case t.Reset != "":
		return fmt.Sprintf("breaker %s trips for %s by the taints of the nodes", t.Breaker, breaker.GroupWords(t.Group))
	}
	return t.String() + "; the pods that it holds are unknown, because these policies have no such breaker"
}

// addBudgetsUnknown adds a remark if the budgets are unknown; if an eviction asks them, the answer becomes incomplete.
func (m *Model) addBudgetsUnknown(r *Remarks, asked bool) {
	cause, next := m.reading.BudgetsUnknown, ""
	if len(m.budgets) == 0 {
		next = "; if there are no budgets, add --no-budgets"
	}
	switch {
	case cause == "":
	case asked:
		r.Incomplete = append(r.Incomplete, cause+", so blocked evictions are unknown"+next)
	default:
		r.note("%s, so their effect is unknown", cause)
	}
}

// lack is a clause about a kind of objects that lack a field. The API server sets all of these fields, but a dump may
// have been edited.
type lack struct{ kind, clause string }

// lacking has what one object lacks, except for the node of a pod, which unjudged reports.
type lacking []lack

func (l *lacking) add(lacks bool, kind, clause string) {
	if lacks {
		*l = append(*l, lack{kind, clause})
	}
}

func (l *lacking) count(object any) {
	switch o := object.(type) {
	case *v1.Node:
		l.add(o.UID == "", "node", "no metadata.uid, so journal entries of such nodes are ignored")
		l.add(o.CreationTimestamp.IsZero(), "node", "no metadata.creationTimestamp, so --at is used as the time of taints "+
			"without a valid timeAdded")
	case *v1.Pod:
		l.add(o.UID == "", "pod", "no metadata.uid, so pods are identified by namespace and name")
		l.add(o.Status.Phase == "", "pod", "no status.phase, so finished pods count as running")
		l.add(cluster.Bound(o).IsZero(), "pod", "neither metadata.creationTimestamp nor a PodScheduled time, "+
			"so --at is used as the time of binding")
	}
}

// noteLacks adds a note for each field that objects lack.
func (m *Model) noteLacks(r *Remarks) {
	var notes []string
	for k, n := range m.lacks {
		notes = append(notes, having(n, k.kind)+" "+k.clause)
	}
	r.Notes = append(r.Notes, slices.Sorted(slices.Values(notes))...)
}

func having(n int, kind string) string { return Count(n, kind) + Verb(n, " has", " have") }

// gaps returns a clause for each unknown about the pods on these nodes, or on all nodes if none is named, judged by
// these rules.
func (m *Model) gaps(nodes []string, by ...*Ruleset) []string {
	return slices.Concat(m.unknownRules(), m.unjudged(nodes, by...), m.reading.Missing)
}

// unjudged returns a clause for each group of pods that cannot be judged. Only in a dump can nodes be missing.
func (m *Model) unjudged(nodes []string, by ...*Ruleset) (list []string) {
	unplaced := 0
	var lost, unknown []string // nodes, and namespaces
	for _, p := range m.pods {
		countIf(&unplaced, p.unplaced())
		if p.Node != "" && m.nodes[p.Node] == nil && p.replica() {
			lost = append(lost, p.Node)
		}
		if _, ok := m.namespaces[p.Namespace]; !ok && slices.ContainsFunc(by, (*Ruleset).needsNamespaces) {
			unknown = append(unknown, p.Namespace)
		}
	}
	if m.reading.Dumped && unplaced > 0 {
		list = append(list, having(unplaced, "pod")+" no spec.nodeName although not Pending, so taints are unknown")
	}
	if m.reading.Dumped && len(nodes) == 0 && len(lost) > 0 {
		list = append(list, fmt.Sprintf("%s a node that is missing (%s), so taints are unknown",
			having(len(lost), "pod"), slices.Min(lost)))
	}
	if len(unknown) == 0 {
		return list
	}
	slices.Sort(unknown)
	unknown = slices.Compact(unknown)
	which := Verb(len(unknown), "one namespace", fmt.Sprintf("%d namespaces", len(unknown)))
	return append(list, fmt.Sprintf("the labels of %s (%s), by which policies select, are unknown (%s): pods "+
		"there count as held", which, ShortList(unknown),
		cmp.Or(m.reading.NamespacesRefused, "these namespaces were not found")))
}
