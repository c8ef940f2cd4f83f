package store_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/policy"
)

// inGuards is the name of a node of the partition that has the record of guards and holds; notInGuards is one of another.
const (
	inGuards    = "node-0"
	notInGuards = "node-1"
)

func TestNodesOfTheGuardsPartition(t *testing.T) {
	if journal.PartitionOf(inGuards) != journal.GuardsPartition || journal.PartitionOf(notInGuards) == journal.GuardsPartition {
		t.Fatal("the nodes of these tests are in other partitions")
	}
}

// ended returns a record with a pause that ended at this second, and a trip that began ten seconds before.
func (w *world) ended(second float64) breaker.Record {
	at := w.born.Add(time.Duration(second * float64(time.Second)))
	return breaker.Record{
		Trips: []breaker.TripRecord{{Breaker: "zones", TopologyKey: "zone", Group: "a", Began: at.Add(-10 * time.Second)}},
		Holds: []policy.HoldRecord{{By: policy.ByPause, Ended: at}},
	}
}

// show formats a record as "trip@second ... end@second ...".
func (w *world) show(r breaker.Record) string {
	var texts []string
	second := func(t time.Time) string { return strconv.FormatFloat(t.Sub(w.born).Seconds(), 'f', -1, 64) }
	for _, t := range r.Trips {
		texts = append(texts, t.Breaker+" "+t.Group+"@"+second(t.Began))
	}
	byEnd := slices.SortedFunc(slices.Values(r.Holds), func(a, b policy.HoldRecord) int { return a.Ended.Compare(b.Ended) })
	for _, h := range byEnd {
		text := h.By + "@" + second(h.Ended)
		if h.Holds {
			text = h.By + " holds"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// guarded checks what the process knows of guards and holds; "unknown" if it knows nothing.
func (p *process) guarded(when, want string) {
	p.world.Helper()
	synctest.Wait()
	r, known := p.Guards()
	got := p.world.show(r)
	if !known {
		got = "unknown" + got
	}
	if got != want {
		p.world.Errorf("%s: guards are %q, want %q", when, got, want)
	}
}

// read returns the records that the process was called with, and forgets them.
func (p *process) read() (texts []string) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.guards {
		texts = append(texts, p.world.show(r))
	}
	p.guards = nil
	return texts
}

func (p *process) reads(when string, want ...string) {
	p.world.Helper()
	if got := p.read(); !slices.Equal(got, want) {
		p.world.Errorf("%s: read %q, want %q", when, got, want)
	}
}

func TestGuardsOutliveARestart(t *testing.T) {
	for name, end := range map[string]func(p *process){"stopped": (*process).stop, "killed": (*process).kill} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.start().lead()
				p.guarded("at first", "unknown")
				w.pass(5)
				p.SetGuards(w.ended(4.25))
				w.pass(6.001)
				end(p)
				w.pass(100)
				p = w.start()
				p.guarded("after a restart", "zones a@-5.75, pause@4.25")
				p.reads("after a restart", "zones a@-5.75, pause@4.25")
				p.lead()
				w.taint(inGuards, "gpu")
				w.pass(200)
				p.kill()
				w.start().guarded("after another one, in which nothing was set", "zones a@-5.75, pause@4.25")
			})
		})
	}
}

func TestARecordWithoutHoldsIsKnown(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		p.SetGuards(breaker.Record{})
		w.pass(2)
		p.kill()
		w.start().guarded("after a restart", "")
	})
}

func TestGuardsAreWrittenAtOnceAndAtMostOnceASecond(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.pass(1)
		first := w.stored() // the first writes of the term
		p.SetGuards(w.ended(0))
		synctest.Wait()
		if n := w.stored() - first; n != 1 {
			t.Errorf("%d writes at once, want 1", n)
		}
		for i := range 100 { // a change each 100 ms
			p.SetGuards(w.ended(float64(i) / 10))
			w.pass(1 + float64(i+1)/10)
		}
		writes := w.writes[first:]
		for i := range writes {
			if i > 0 && writes[i].at.Sub(writes[i-1].at) < time.Second {
				t.Errorf("written at %v and %v", writes[i-1].at, writes[i].at)
			}
		}
		if n := len(writes); n < 9 || n > 12 {
			t.Errorf("%d writes in 10 s", n)
		}
	})
}

func TestGuardsAreWrittenOnceTheJournalWorksAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.fault(failing(broken, "create", "update"))
		p.SetGuards(w.ended(0))
		w.pass(300)
		w.fault(nil)
		w.pass(340)
		p.kill()
		w.start().guarded("after a restart", "zones a@-10, pause@0")
	})
}

// A leader that takes over a record, and has nothing to add, keeps it while the journal can't be written.
func TestGuardsThatALeaderHasOnlyReadOutliveAnOutageOfTheJournal(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		p.SetGuards(w.ended(0))
		w.pass(2)
		p.kill()
		w.fault(failing(broken, "create", "update"))
		p = w.start().lead()
		p.guarded("as it begins to lead", "zones a@-10, pause@0")
		w.pass(300)
		p.guarded("after an outage", "zones a@-10, pause@0")
		w.fault(nil)
		w.taint(inGuards, "gpu")
		w.pass(340)
		p.kill()
		w.start().guarded("after a restart", "zones a@-10, pause@0")
	})
}

// Its age then shows whether a leader could write it.
func TestAPartitionWithGuardsAloneIsStampedNowAndThen(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		p.SetGuards(breaker.Record{})
		w.pass(200)
		if n := w.storedOf(inGuards); n < 9 || n > 12 {
			t.Errorf("%d writes in 200 s", n)
		}
		p.kill()
		p = w.start(func(o *store.Options) { o.LastLed = w.born.Add(200 * time.Second) })
		p.guarded("after a restart", "")
		p.kill()
		p = w.start(func(o *store.Options) { o.LastLed = w.born.Add(400 * time.Second) })
		p.guarded("after another leader did not write it", "unknown")
	})
}

func TestAStandbyReadsWhatTheLeaderSets(t *testing.T) {
	inWorld(t, func(w *world) {
		leader, standby := w.start().lead(), w.start()
		standby.reads("at first")
		leader.SetGuards(w.ended(0))
		w.pass(2)
		standby.reads("once it is set", "zones a@-10, pause@0")
		w.pass(60)
		standby.read() // stamps
		leader.SetGuards(w.ended(60))
		w.pass(62)
		standby.guarded("once it is set again", "zones a@50, pause@60")
		leader.reads("the leader reads nothing of its own")
		leader.resign()
		standby.lead()
		standby.SetGuards(w.ended(62))
		w.pass(64)
		leader.guarded("standing by", "zones a@52, pause@62")
		leader.reads("standing by", "zones a@50, pause@60", "zones a@52, pause@62")
	})
}

func TestAStandbyAndADryRunWriteNoGuards(t *testing.T) {
	inWorld(t, func(w *world) {
		dry := w.start(func(o *store.Options) { o.ReadOnly = true }).lead()
		standby := w.start()
		for _, p := range []*process{dry, standby} {
			p.SetGuards(w.ended(0))
		}
		w.pass(100)
		if n := w.stored(); n != 0 {
			t.Errorf("%d writes", n)
		}
	})
}

// In each of these states the ends of holds are unknown, and the root counts them from when it began to lead.
func TestGuardsThatAreLostAreUnknownAndNothingIsEarlier(t *testing.T) {
	for name, lose := range map[string]func(w *world){
		"the ConfigMap is deleted":        func(w *world) { w.deletePartition(inGuards) },
		"it is emptied":                   func(w *world) { w.put(inGuards, nil) },
		"its record is garbled":           func(w *world) { w.edit(`"holds":[`, `"holds":[7,`) },
		"the record is not there":         func(w *world) { w.edit(`"guards"`, `"guard"`) },
		"it is of another version":        func(w *world) { w.edit(`"version":1`, `"version":2`) },
		"it is no JSON":                   func(w *world) { w.edit(`{`, ``) },
		"the first release has written":   func(w *world) { w.put(inGuards, map[string]string{"_journal": w.head(5)}) },
		"it can't be read":                func(w *world) { w.fault(failing(broken, "list", "watch")) },
		"there is no permission to do so": func(w *world) { w.fault(failing(forbidden, "list", "watch")) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.needs = policy.Needs{Triggers: []string{"drain"}}
				p := w.start().lead()
				w.taint(inGuards, "drain:NoSchedule", "gpu")
				w.taint(notInGuards, "drain:NoSchedule")
				p.SetGuards(w.ended(1))
				w.pass(5)
				p.kill()
				lose(w)
				w.pass(10)
				p = w.start()
				p.guarded("after a restart", "unknown")
				p.reads("after a restart")
				for _, node := range []string{inGuards, notInGuards} {
					for one := range strings.FieldsSeq(p.since(node)) {
						_, since, _ := strings.Cut(one, "@")
						if second, err := strconv.ParseFloat(since, 64); err != nil || second < 0 {
							t.Errorf("%s on %s", one, node)
						}
					}
				}
				w.fault(nil)
				w.pass(60)
				p.lead()
				w.taint(inGuards, "drain:NoSchedule", "gpu", "disk")
				w.pass(70)
				before := p.since(inGuards)
				p.kill()
				p = w.start()
				if name == "it is of another version" || name == "it is no JSON" {
					return // these are not overwritten
				}
				p.knows("after another restart", inGuards, before)
			})
		})
	}
}

// edit replaces a text in the head of the partition with the guards.
func (w *world) edit(before, after string) {
	w.Helper()
	data := maps.Clone(w.partition(inGuards).Data)
	if data["_journal"] == strings.Replace(data["_journal"], before, after, 1) {
		w.Fatalf("%q is not in %s", before, data["_journal"])
	}
	data["_journal"] = strings.Replace(data["_journal"], before, after, 1)
	w.put(inGuards, data)
}

func TestGuardsThatAreDeletedUnderALeaderAreWrittenAnew(t *testing.T) {
	for name, lose := range map[string]func(w *world){
		"deleted": func(w *world) { w.deletePartition(inGuards) },
		"emptied": func(w *world) { w.put(inGuards, nil) },
		"edited":  func(w *world) { w.edit("pause", "policy x") },
		"garbled": func(w *world) { w.edit(`"holds":[`, `"holds":[7,`) },
		"removed": func(w *world) { w.edit(`"guards"`, `"guard"`) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.start().lead()
				p.SetGuards(w.ended(1))
				w.pass(5)
				lose(w)
				w.pass(8)
				p.guarded("the leader", "zones a@-9, pause@1")
				p.reads("the leader")
				p.troubled("the leader", "")
				p.kill()
				w.start().guarded("after a restart", "zones a@-9, pause@1")
			})
		})
	}
}

func TestTheLossOfAnotherPartitionLosesNoGuards(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		p.SetGuards(w.ended(1))
		w.taint(notInGuards, "gpu")
		w.pass(5)
		p.kill()
		w.deletePartition(notInGuards)
		w.start().guarded("after a restart", "zones a@-9, pause@1")
	})
}

func TestTheEndOfAHoldIsNoEarlierForAReaderWhoseClockIsAhead(t *testing.T) {
	inWorld(t, func(w *world) {
		head := strings.TrimSuffix(w.head(-119), "}") + `,"guards":{"holds":[{"by":"pause","ended":"` + w.born.Add(-120*time.Second).UTC().Format(time.RFC3339Nano) + `"}]}}`
		w.put(inGuards, map[string]string{"_journal": head})
		w.pass(3)
		w.start().guarded("read by one who is in step", "pause@-120")
		w.ahead = 120 * time.Second
		w.start().guarded("read by one who is ahead", "pause@0")
	})
}

func TestAWriterWhoseClockIsBehindMakesNoEndEarlier(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fields = []metav1.ManagedFieldsEntry{{
			Manager: "taint-manager", Time: new(metav1.NewTime(w.born.Add(-2 * time.Second))), FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:_journal":{}}}`),
		}}
		head := strings.TrimSuffix(w.head(-601), "}") + `,"guards":{"holds":[{"by":"pause","ended":"` + w.born.Add(-610*time.Second).UTC().Format(time.RFC3339Nano) + `"}]}}`
		w.put(inGuards, map[string]string{"_journal": head})
		w.start().guarded("read at the start", "pause@-10")
	})
}

func TestTriggersOutliveARestart(t *testing.T) {
	inWorld(t, func(w *world) {
		w.needs = policy.Needs{Triggers: []string{"drain"}}
		p := w.start().lead()
		w.pass(3)
		w.taint("n", "drain=a:NoSchedule")
		w.taint("m", "gpu", "other:NoSchedule")
		w.pass(7.5)
		w.taint("n", "drain=b:NoSchedule", "gpu")
		const want = "gpu@7.5 (drain=a:NoSchedule@3) drain=b:NoSchedule@7.5"
		p.knows("before", "n", want)
		p.restarts(3, map[string]string{"n": want, "m": "gpu@3"}).troubled("at the end", "")
	})
}

func TestATriggerThatNoPolicyNamesAnyLongerGoesFromTheJournalAndBeginsAnew(t *testing.T) {
	inWorld(t, func(w *world) {
		w.needs = policy.Needs{Triggers: []string{"drain", "old"}}
		p := w.start().lead()
		w.taint("n", "drain:NoSchedule", "old:NoSchedule")
		w.pass(5)
		p.stop()
		w.needs = policy.Needs{Triggers: []string{"drain"}, Audited: []string{"old"}}
		p = w.start().lead()
		p.knows("after a restart without it", "n", "drain:NoSchedule@0")
		w.pass(10)
		if head := w.partition("n").Data["_journal"]; strings.Contains(head, "old") || !strings.Contains(head, "drain") {
			t.Errorf("stored is %s", head)
		}
		p.kill()
		w.needs = policy.Needs{Triggers: []string{"drain", "old"}}
		p = w.start().lead()
		p.knows("after a restart with it", "n", "drain:NoSchedule@0 old:NoSchedule@10")
		w.deleteNode("n")
		w.pass(20)
		if data := w.partition("n").Data; len(data) != 1 || strings.Contains(data["_journal"], "triggers") {
			t.Errorf("the node is gone; stored is %v", data)
		}
	})
}

func TestAfterTheFirstReleaseHasWrittenTriggersBeginAnew(t *testing.T) {
	inWorld(t, func(w *world) {
		w.needs = policy.Needs{Triggers: []string{"drain"}}
		p := w.start().lead()
		w.taint("n", "drain:NoSchedule", "gpu")
		w.pass(5)
		p.stop()
		w.put("n", map[string]string{"_journal": w.head(50), "n": w.entry("n", "101", "gpu", 0)})
		w.pass(60)
		w.start().knows("after it", "n", "gpu@0 drain:NoSchedule@60")
	})
}

// The first release does not write a partition without NoExecute taints, so its age shows that.
func TestTriggersThatTheFirstReleaseHasLeftAreNotBelieved(t *testing.T) {
	inWorld(t, func(w *world) {
		w.needs = policy.Needs{Triggers: []string{"drain"}}
		p := w.start().lead()
		w.taint(inGuards, "drain:NoSchedule")
		p.SetGuards(w.ended(0))
		w.pass(5)
		p.stop()
		w.pass(300)
		p = w.start(func(o *store.Options) { o.LastLed = w.born.Add(299 * time.Second) })
		p.knows("after it", inGuards, "drain:NoSchedule@300")
		p.guarded("after it", "unknown")
	})
}

func TestAStandbyHasTheLeadersStartsOfTriggers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.needs = policy.Needs{Triggers: []string{"drain"}}
		leader := w.start().lead()
		w.taint("n", "drain:NoSchedule")
		w.pass(20)
		standby := w.start()
		standby.knows("found in its first list", "n", "drain:NoSchedule@0")
		w.needs = policy.Needs{}
		late := w.start()
		late.knows("without policies", "n", "")
		w.pass(30)
		if err := <-late.watcher.Need(policy.Needs{Triggers: []string{"drain"}}); err != nil {
			t.Error(err)
		}
		late.knows("with policies", "n", "drain:NoSchedule@0")
		w.pass(45)
		leader.kill()
		late.lead()
		w.pass(60)
		late.knows("leading", "n", "drain:NoSchedule@0")
	})
}
