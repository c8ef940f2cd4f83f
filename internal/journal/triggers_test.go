package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

func noSchedule(key, value string) v1.Taint {
	return v1.Taint{Key: key, Value: value, Effect: v1.TaintEffectNoSchedule}
}

// triggers returns the keys of these triggers, which are sorted.
func triggers(keys ...string) journal.Keys { return journal.Keys{Triggers: keys} }

// with returns the observations with these keys.
func with(keys journal.Keys, looks ...journal.Observation) []journal.Observation {
	for i := range looks {
		looks[i].Keys = keys
	}
	return looks
}

// afterAll is after for observations with keys; those that are added are computed from the previous observation.
func afterAll(looks ...[]journal.Observation) (n viewed) {
	var all []journal.Observation
	for _, some := range looks {
		all = append(all, some...)
	}
	for i := range all {
		if i > 0 {
			all[i].KeysBefore = &all[i-1].Keys
		}
		if all[i].Version == "" {
			all[i].Version = fmt.Sprint(i + 1)
		}
		n.look(all[i])
	}
	return n
}

func TestObserveTriggers(t *testing.T) {
	drain, old := noSchedule("drain", ""), noSchedule("old", "")
	value := func(v string) v1.Taint { return noSchedule("drain", v) }
	notReady, unreachable := noSchedule(v1.TaintNodeNotReady, ""), noSchedule(v1.TaintNodeUnreachable, "")
	keys := triggers("drain")
	both := triggers(v1.TaintNodeNotReady, v1.TaintNodeUnreachable)
	for _, c := range []struct {
		name  string
		looks [][]journal.Observation
		want  []string
	}{
		{"a trigger counts from the moment it was seen to appear", [][]journal.Observation{with(keys, listed(0), look(1.5, drain))}, []string{"drain=@1.5"}},
		{"other keys are passed over", [][]journal.Observation{with(keys, listed(0), look(1.5, old))}, nil},
		{"without policies none is a trigger", [][]journal.Observation{with(journal.Keys{}, listed(0), look(1.5, drain))}, nil},
		{"PreferNoSchedule is none", [][]journal.Observation{with(keys, look(1, v1.Taint{Key: "drain", Effect: v1.TaintEffectPreferNoSchedule}))}, nil},
		{"found in a list it counts from now, not from its timeAdded", [][]journal.Observation{with(keys, listed(10, added(drain, 4)))}, []string{"drain=@10"}},
		{"found after a gap it counts from now", [][]journal.Observation{with(keys, look(1), gap(3, added(drain, 6)))}, []string{"drain=@10"}},
		{"after a gap, it is the same one", [][]journal.Observation{with(keys, look(1.5, added(drain, 1)), gap(1.5, added(drain, 1)))}, []string{"drain=@1.5"}},
		{"after a gap, a later timeAdded means a new one, which counts from now", [][]journal.Observation{with(keys, look(1.5, added(drain, 1)), gap(3, added(drain, 6)))}, []string{"drain=@10"}},
		{"lifted and set again it is a new one", [][]journal.Observation{with(keys, look(1, drain), look(2), look(3, drain))}, []string{"drain=@3"}},
		{"another value is another state", [][]journal.Observation{with(keys, look(1, value("a")), look(2, value("b")))}, []string{"(drain=a@1) drain=b@2"}},
		{"a taint of the same key that is NoExecute has nothing to do with it", [][]journal.Observation{with(keys, look(1, noExecute("drain", "")), look(2, noExecute("drain", ""), drain), look(3, drain))}, []string{"drain=@2"}},
		{"a key that a policy begins to name counts from then", [][]journal.Observation{with(triggers(), look(1, drain)), with(keys, look(5, drain))}, []string{"drain=@5"}},
		{"also if a list shows it", [][]journal.Observation{with(triggers(), look(1, added(drain, 1))), with(keys, gap(5, added(drain, 1)))}, []string{"drain=@10"}},
		{"one that it no longer names is dropped", [][]journal.Observation{with(keys, look(1, drain)), with(triggers(), look(5, drain))}, nil},
		{"and begins anew when it is named again", [][]journal.Observation{with(keys, look(1, drain)), with(triggers("other"), look(5, drain)), with(keys, look(6, drain))}, []string{"drain=@6"}},
		{"other policies for the same key change nothing", [][]journal.Observation{with(keys, look(1, drain)), with(triggers("drain", "old"), look(5, drain, old))}, []string{"drain=@1", "old=@5"}},
		{"one that was audited begins when it is enforced", [][]journal.Observation{with(journal.Keys{Audited: []string{"drain"}}, look(1, drain)), with(keys, look(5, drain))}, []string{"drain=@5"}},
		{"one that is audited is none", [][]journal.Observation{with(journal.Keys{Audited: []string{"drain"}}, look(1, drain))}, nil},
		{"the swap of not-ready for unreachable is one presence", [][]journal.Observation{with(both, look(1, notReady), look(2, unreachable))}, []string{"(" + notReady.Key + "=@1) " + unreachable.Key + "=@2"}},
		{"unless only one of both is a trigger", [][]journal.Observation{with(triggers(unreachable.Key), look(1, notReady), look(2, unreachable))}, []string{unreachable.Key + "=@2"}},
		{
			"both begin anew if one of both was not named for a while",
			[][]journal.Observation{with(both, look(1, notReady), look(2, unreachable)), with(triggers(unreachable.Key), look(3, unreachable)), with(both, look(4, unreachable, notReady))},
			[]string{unreachable.Key + "=@4 " + notReady.Key + "=@4"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := afterAll(c.looks...)
			if diff := cmp.Diff(c.want, show(got.Triggers())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTriggersAndTaintsOfAKeyAreSeparate(t *testing.T) {
	n := afterAll(with(triggers("gpu"), listed(0), look(1, noExecute("gpu", "")), look(2, noExecute("gpu", ""), noSchedule("gpu", "x"))))
	n.wants(t, "gpu=@1")
	if diff := cmp.Diff([]string{"gpu=x@2"}, show(n.Triggers())); diff != "" {
		t.Error(diff)
	}
}

func TestAuditedTaintsAreShownButNotRecorded(t *testing.T) {
	n := afterAll(with(journal.Keys{Audited: []string{"drain"}}, look(1, noSchedule("drain", ""))))
	if diff := cmp.Diff([]string{"drain=@1"}, show(n.Audited())); diff != "" {
		t.Error(diff)
	}
	node := taint.Node{UID: "u", Version: "1", Triggers: n.Triggers(), Audited: n.Audited()}
	if r := journal.RecordOf(&node, at(5)); len(r.Taints)+len(r.Triggers) > 0 {
		t.Errorf("recorded is %v", r)
	}
}

// recordedTriggers returns the record of a writer that made these observations of the node.
func recordedTriggers(version string, looks ...[]journal.Observation) journal.Record {
	n := afterAll(looks...)
	return journal.RecordOf(&taint.Node{UID: "u", Version: version, Taints: n.Taints(), Triggers: n.Triggers()}, at(200))
}

func TestAdoptTriggers(t *testing.T) {
	drain, value := noSchedule("drain", ""), func(v string) v1.Taint { return noSchedule("drain", v) }
	keys := triggers("drain")
	audited := journal.Keys{Audited: []string{"drain"}}
	foundHere := func(keys journal.Keys, taints ...v1.Taint) viewed {
		return afterAll(with(keys, on("10", listed(100, taints...))))
	}
	for _, c := range []struct {
		name   string
		own    viewed
		keys   journal.Keys
		record journal.Record
		want   []string
	}{
		{"what was found in a list counts from the record's time", foundHere(keys, drain), keys, recordedTriggers("3", with(keys, on("3", look(7, drain)))), []string{"drain=@7"}},
		{"a NoExecute taint of that key in the record means nothing", foundHere(keys, drain), keys, recorded("3", look(7, noExecute("drain", ""))), []string{"drain=@100"}},
		{"the record of another node of that name means nothing", foundHere(keys, drain), keys, journal.Record{UID: "other", Triggers: recordedTriggers("3", with(keys, on("3", look(7, drain)))).Triggers}, []string{"drain=@100"}},
		{"what is only audited here begins no exposure", foundHere(audited, drain), audited, recordedTriggers("3", with(keys, on("3", look(7, drain)))), nil},
		{"a value that changed after the record was written carries it on", foundHere(keys, value("b")), keys, recordedTriggers("3", with(keys, on("3", look(7, value("a"))))), []string{"(drain=a@7) drain=b@100"}},
		{"a later timeAdded means a new one", foundHere(keys, added(drain, 50)), keys, recordedTriggers("3", with(keys, on("3", look(7, drain)))), []string{"drain=@100"}},
		{
			"what this process saw later, as its policies were read later, counts from the leader's time",
			afterAll(with(triggers(), on("10", look(100, drain))), with(keys, on("12", look(160, drain)))), keys,
			recordedTriggers("10", with(keys, on("10", look(101, drain)))),
			[]string{"drain=@101"},
		},
		{
			"and what it saw earlier, too",
			afterAll(with(keys, on("10", listed(100, drain)))), keys,
			recordedTriggers("12", with(triggers(), on("10", look(100, drain))), with(keys, on("12", look(160, drain)))),
			[]string{"drain=@160"},
		},
		{
			"a key that this process saw appear is not the one of an older record",
			afterAll(with(keys, on("10", listed(100)), on("12", look(110, drain)))), keys,
			recordedTriggers("11", with(keys, on("11", look(7, drain)))),
			[]string{"drain=@110"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := c.own.reading(0)
			now.Keys = c.keys
			adopted, changed := c.own.Adopt(c.record, now)
			if diff := cmp.Diff(c.want, show(adopted.Triggers())); diff != "" {
				t.Error(diff)
			}
			if changed == cmp.Equal(show(c.own.Triggers()), c.want) {
				t.Errorf("it is said to have changed: %t", changed)
			}
			if again, changed := adopted.Adopt(c.record, now); changed {
				t.Errorf("read once more, it changes to %v", show(again.Triggers()))
			}
		})
	}
}

// A record may have states of a key that this process's policies do not name.
func TestStatesOfOtherKeysAreNotAdopted(t *testing.T) {
	notReady, unreachable := noSchedule(v1.TaintNodeNotReady, ""), noSchedule(v1.TaintNodeUnreachable, "")
	record := recordedTriggers("2", with(triggers(notReady.Key, unreachable.Key), look(1, notReady), look(2, unreachable)))
	own := afterAll(with(triggers(unreachable.Key), on("10", listed(100, unreachable))))
	now := own.reading(0)
	now.Keys = triggers(unreachable.Key)
	adopted, _ := own.Adopt(record, now)
	if diff := cmp.Diff([]string{unreachable.Key + "=@2"}, show(adopted.Triggers())); diff != "" {
		t.Error(diff)
	}
}

// exposure is the plain twin of the histories of one trigger on one node: when it was last seen to begin.
type exposure struct {
	named, there bool
	since        time.Time
}

func (e *exposure) see(named, there bool, now time.Time) {
	if before := e.named && e.there; named && there && !before {
		e.since = now
	}
	e.named, e.there = named, there
}

// Two processes observe a node and read each other's records in any order, while policies name a taint and stop to name
// it. Neither ever has a start that is earlier than the earliest moment at which one of them saw the present exposure
// begin, and a process on its own has exactly the start of the twin.
func TestNoTriggerCountsFromBeforeAProcessSawIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys, drain := [2]journal.Keys{}, noSchedule("drain", "")
		twins := [2]exposure{}
		own := [2]viewed{}
		stored := [2]journal.Record{} // with the present policies: a leader writes without the keys that it no longer names
		there, version, joined := false, 10, false
		begun := time.Time{} // when the taint was set, or when the first process that has named it since named it
		for second := range rapid.IntRange(1, 80).Draw(t, "steps") {
			i, now := rapid.IntRange(0, 1).Draw(t, "process"), at(float64(second))
			switch rapid.SampledFrom([]int{0, 0, 0, 1, 2, 2, 2, 3, 3, 3}).Draw(t, "action") {
			case 0:
				there, version = !there, version+1
				for i := range own { // both watch
					observe(&own[i], keys[i], keys[i], there, version, now, drain)
					twins[i].see(len(keys[i].Triggers) > 0, there, now)
				}
				begun = now
			case 1:
				before := keys[i]
				stored = [2]journal.Record{}
				if keys[i] = triggers("drain"); len(before.Triggers) > 0 {
					keys[i] = triggers()
				}
				if len(keys[0].Triggers)+len(keys[1].Triggers) == 0 {
					begun = time.Time{}
				} else if begun.IsZero() || len(before.Triggers) == 0 && len(keys[1-i].Triggers) == 0 {
					begun = now
				}
				observe(&own[i], keys[i], before, there, version, now, drain)
				twins[i].see(len(keys[i].Triggers) > 0, there, now)
			case 2:
				r := journal.RecordOf(&taint.Node{UID: "u", Version: own[i].version, Triggers: own[i].Triggers()}, now)
				r.Writing = journal.Writing{At: now, Received: now}
				stored[i] = r
			case 3: // perhaps long after it was written
				own[i].NodeHistory, _ = own[i].Adopt(stored[1-i], journal.Observation{UID: "u", Created: at(-100), Version: own[i].version, At: now, Keys: keys[i]})
				joined = true
			}
			for i := range own {
				checkTrigger(t, &own[i], &twins[i], begun, joined)
			}
		}
	})
}

func observe(n *viewed, keys, before journal.Keys, there bool, version int, now time.Time, one v1.Taint) {
	s := journal.Observation{At: now, Created: at(-100), Version: fmt.Sprint(version), Keys: keys, KeysBefore: &before}
	if there {
		s.Taints = []v1.Taint{one}
	}
	n.look(s)
}

func checkTrigger(t *rapid.T, n *viewed, twin *exposure, begun time.Time, joined bool) {
	got := n.Triggers()
	if (len(got) > 0) != (twin.named && twin.there) {
		t.Fatalf("got %v, want %v", show(got), *twin)
	}
	if len(got) == 0 {
		return
	}
	since := got[0][0].Since // an exposure counts from the first state
	if !joined && !since.Equal(twin.since) || since.Before(begun) {
		t.Fatalf("it counts from %v, want %v, and not before %v: %s", since, twin.since, begun, strings.Join(show(got), " "))
	}
}
