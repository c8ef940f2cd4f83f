package journal_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// knows is a node made at second -100 of which this is known at version 10.
func knows(looks ...journal.Sighting) *taint.Node {
	n := &taint.Node{Name: "n", UID: "u", Created: at(-100), Version: "10"}
	for _, s := range looks {
		n.Taints = journal.Observe(n.Taints, s)
	}
	return n
}

// found is a node of which this was found in the first list.
func found(taints ...v1.Taint) *taint.Node {
	n := knows(listed(100, taints...))
	n.Listed = true
	return n
}

// recorded is a record of that node, written at this version.
func recorded(version string, looks ...journal.Sighting) journal.Record {
	return journal.Record{UID: "u", Version: version, Taints: knows(looks...).Taints}
}

func TestAdopt(t *testing.T) {
	gpu, disk := noExecute("gpu", ""), noExecute("disk", "")
	load := func(v string) v1.Taint { return noExecute("load", v) }
	notReady, unreachable := noExecute(v1.TaintNodeNotReady, ""), noExecute(v1.TaintNodeUnreachable, "")
	for _, c := range []struct {
		name    string
		own     *taint.Node
		record  journal.Record
		watched float64
		want    []string
	}{
		{"what was found in a list counts from the record's time", found(gpu), recorded("3", look(7.25, gpu)), 0, []string{"gpu=@7.25"}},
		{"the record of another node of that name means nothing", found(gpu), journal.Record{UID: "other", Taints: recorded("3", look(7, gpu)).Taints}, 0, []string{"gpu=@100"}},
		{"a taint that is not in the record keeps its own time", found(gpu, disk), recorded("3", look(7, gpu)), 0, []string{"gpu=@7", "disk=@100"}},
		{"a taint that is only in the record is gone", found(gpu), recorded("3", look(7, gpu, disk)), 0, []string{"gpu=@7"}},
		{"a later timeAdded means a new taint", found(added(gpu, 50)), recorded("3", look(7, gpu)), 60, []string{"gpu=@51"}},
		{"the timeAdded that the record knows means nothing new", found(added(gpu, 50)), recorded("3", look(7, gpu), look(51, added(gpu, 50))), 60, []string{"gpu=@7"}},
		{"not-ready set anew while somebody watched is the same one", found(added(notReady, 50)), recorded("3", look(7, notReady)), 60, []string{notReady.Key + "=@7"}},
		{"not-ready set anew while nobody watched is a new one", found(added(notReady, 50)), recorded("3", look(7, notReady)), 40, []string{notReady.Key + "=@51"}},
		{"a swap while somebody watched carries the record on", found(added(unreachable, 50)), recorded("3", look(7, notReady)), 60, []string{"(" + notReady.Key + "=@7) " + unreachable.Key + "=@51"}},
		{"the states of the past are taken over", found(load("3")), recorded("3", look(7, load("1")), look(8, load("2")), look(9, load("3"))), 0, []string{"(load=1@7) (load=2@8) load=3@9"}},
		{"a value that changed after the record was written carries it on", found(load("3")), recorded("3", look(7, load("1"))), 0, []string{"(load=1@7) load=3@100"}},

		{"a record that has seen as much wins over what was seen here", knows(look(20, gpu)), recorded("10", look(19.5, gpu)), 0, []string{"gpu=@19.5"}},
		{"a record that has seen more wins", knows(look(20, gpu)), recorded("11", look(19.5, gpu), look(20, gpu, disk)), 0, []string{"gpu=@19.5"}},
		{"a record that has seen less means nothing", knows(look(20, gpu)), recorded("9", look(3, gpu)), 0, []string{"gpu=@20"}},
		{"versions are numbers", knows(look(20, gpu)), recorded("9", look(3, gpu)), 0, []string{"gpu=@20"}},
		{"a record without a version means nothing for what was seen here", knows(look(20, gpu)), recorded("", look(3, gpu)), 0, []string{"gpu=@20"}},
		{"states seen here since the record was written carry it on", knows(look(20, load("1")), look(21, load("2")), look(22, load("3"))), recorded("10", look(19, load("1")), look(20.5, load("2"))), 0, []string{"(load=1@19) (load=2@20.5) load=3@22"}},

		{"a time before the node was made is clamped", found(gpu), recorded("3", look(-500, gpu)), 0, []string{"gpu=@-100"}},
		{"a time in the future is clamped", found(gpu), recorded("3", look(5000, gpu)), 0, []string{"gpu=@200"}},
		{"an empty record changes nothing", found(gpu), journal.Record{UID: "u"}, 0, []string{"gpu=@100"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			adopted := journal.Adopt(c.own, c.record, at(200), at(c.watched))
			if diff := cmp.Diff(c.want, show(adopted)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARecordThatChangesNothingReturnsTheNodesOwnSlice(t *testing.T) {
	own := knows(look(1, noExecute("gpu", "")))
	if got := journal.Adopt(own, recorded("10", look(1, noExecute("gpu", ""))), at(200), at(0)); &got[0] != &own.Taints[0] {
		t.Error("got a new slice")
	}
}

func TestARecordsTimesRunOnTheMonotonicClock(t *testing.T) {
	now := time.Now()
	gpu := []v1.Taint{noExecute("gpu", "")}
	own := &taint.Node{UID: "u", Listed: true, Created: now.Add(-time.Hour).Round(0)}
	own.Taints = journal.Observe(nil, journal.Sighting{Taints: gpu, At: now, Gap: true})
	r := journal.Record{UID: "u", Taints: journal.Observe(nil, journal.Sighting{Taints: gpu, At: now.Add(-time.Minute).Round(0)})}
	since := journal.Adopt(own, r, now, time.Time{})[0][0].Since
	if !strings.Contains(since.String(), " m=") || now.Sub(since) != time.Minute {
		t.Errorf("got %v, want a minute before %v on the monotonic clock", since, now)
	}
}

// Whatever a record says, a node keeps exactly the taints that it has, each within the node's life, and
// its histories keep their form.
func TestNoRecordAddsOrTakesAwayATaint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own := drawNode(t, "own")
		own.Listed = rapid.Bool().Draw(t, "listed")
		r := journal.RecordOf(drawNode(t, "record"), at(200))
		adopted := journal.Adopt(own, r, at(200), at(float64(rapid.IntRange(0, 200).Draw(t, "watched"))))
		if diff := cmp.Diff(standing(own.Taints), standing(adopted)); diff != "" {
			t.Fatal(diff)
		}
		for _, h := range adopted {
			checkHistory(t, h)
		}
	})
}

func checkHistory(t *rapid.T, h taint.History) {
	if len(h) > journal.States {
		t.Fatalf("%d states", len(h))
	}
	for i, s := range h {
		if s.Since.Before(at(-100)) || s.Since.After(at(200)) {
			t.Fatalf("%v is not within the node's life", s.Since)
		}
		if i > 0 && s.Since.Before(h[i-1].Since) {
			t.Fatalf("out of order: %v", show([]taint.History{h}))
		}
	}
}

// standing are the taints on the node, in order.
func standing(histories []taint.History) (on []string) {
	for _, h := range histories {
		for _, s := range h {
			if !s.Past {
				on = append(on, s.Taint.ToString())
			}
		}
	}
	slices.Sort(on)
	return on
}

// drawNode is a node that has been looked at some times in its life.
func drawNode(t *rapid.T, name string) *taint.Node {
	n := &taint.Node{Name: "n", UID: "u", Created: at(-100)}
	second := 0
	for range rapid.IntRange(1, 12).Draw(t, name+" looks") {
		second += rapid.IntRange(0, 9).Draw(t, "pause")
		s := look(float64(second), drawTaints(t, second)...)
		n.Taints = journal.Observe(n.Taints, s)
	}
	n.Version = rapid.SampledFrom([]string{"", "1", "2", "10", "x"}).Draw(t, "version")
	return n
}

func drawTaints(t *rapid.T, second int) []v1.Taint {
	taints := rapid.SliceOfNDistinct(rapid.SampledFrom([]v1.Taint{
		noExecute("gpu", ""), noExecute("load", "1"), noExecute("load", "2"),
		noExecute(v1.TaintNodeNotReady, ""), noExecute(v1.TaintNodeUnreachable, ""),
	}), 0, 4, func(t v1.Taint) string { return t.Key }).Draw(t, "taints")
	for i := range taints {
		if rapid.Bool().Draw(t, "timed") {
			taints[i] = added(taints[i], float64(rapid.IntRange(-5, second+5).Draw(t, "added")))
		}
	}
	return taints
}
