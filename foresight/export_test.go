package foresight

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
)

// A test prepares a model step by step, with records that no journal has encoded.

func NewModel(by Ruleset, focus Focus) *Model { return newModel(by, focus) }

func (m *Model) Add(object any)                               { Builder{m}.Add(object) }
func (m *Model) AddNode(n *v1.Node)                           { m.addNode(n) }
func (m *Model) AddPod(p *v1.Pod)                             { m.addPod(p) }
func (m *Model) AddRecords(p journal.Partition, at time.Time) { m.addRecords(p, at) }
func (m *Model) Begin(at time.Time)                           { m.begin(at) }
func (m *Model) SetGuards(r *guard.Record, w journal.Writing) { m.guards = guards{r, w} }
func (m *Model) SetRead(at time.Time)                         { m.reading.At = at }
func (m *Model) SetPartial()                                  { m.reading.Partial = true }

func (m *Model) ReplaceByRecords(pages []journal.Partition, at time.Time) {
	m.replaceByRecords(pages, at)
	m.reading.Hidden = "list"
	if len(m.journal().partitions) == 0 {
		m.journal().partitions[0] = readPartition{} // nothing is missing
	}
}

func (m *Model) MustExplain(namespace, name string, at time.Time) *Explanation {
	e, err := m.Explain(namespace, name, at)
	if err != nil {
		panic(err)
	}
	return e
}

func (m *Model) Resets(at time.Time) []Reset {
	var list []Reset
	for _, r := range m.resets(at) {
		list = append(list, Reset{r.Trip, r.at})
	}
	return list
}

// Reset is the end of a trip.
type Reset struct {
	Trip Trip
	At   time.Time
}

func (m *Model) ResetUnknown(t Trip, at time.Time) bool       { return m.resetUnknown(t, at) }
func (m *Model) UnknownMatches(nodes []string) []string       { return m.unknownPolicies(nodes) }
func (m *Model) UnknownEnds() bool                            { return m.unknownEnds() }
func (m *Model) GuardsKnown() bool                            { return m.guards.record != nil }
func (m *Model) PauseRecorded() bool                          { return m.pauseRecorded() }
func (m *Model) HeldKnown(t Trip) bool                        { return m.heldKnown(t) }
func (m *Model) Partial() bool                                { return m.partial() }
func (m *Model) Stale(nodes []string, at time.Time) time.Time { return m.stale(nodes, at) }
func (m *Model) Tainted(among []string) []string              { return m.tainted(among) }
func (m *Model) Undecided(nodes []string) (could, all int)    { return m.undecided(nodes) }
func (p *Pending) Overdue(by time.Duration) int               { return p.overdue(by) }
func (p *Pending) Unsure() (unsure bool) {
	var d doubts
	for i := range p.Pods {
		d.add(&p.Pods[i].Prediction)
	}
	return d.unsure
}

func (p *Pending) AsIfNow() bool {
	var d doubts
	for i := range p.Pods {
		d.add(&p.Pods[i].Prediction)
	}
	return d.asIfNow
}

func (p *Plan) AsIfNow() bool { return p.doubts().asIfNow }
func (m *Model) Twice() error { return m.twiceError() }
