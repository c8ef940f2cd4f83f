package journal_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// found returns a node that was found with these taints in the first list, at version 10.
func found(taints ...v1.Taint) viewed { return after(on("10", listed(100, taints...))) }

// seen returns a node that was observed without a gap, at versions 10, 11 and so on.
func seen(looks ...journal.Observation) viewed {
	for i := range looks {
		looks[i].Version = strconv.Itoa(10 + i)
	}
	return after(looks...)
}

// recorded returns the record of a writer that made these observations of the node, the last at this version.
func recorded(version string, looks ...journal.Observation) journal.Record {
	if last := &looks[len(looks)-1]; last.Version == "" {
		last.Version = version
	}
	return journal.RecordOf(&taint.Node{UID: "u", Version: version, Taints: after(looks...).Taints()}, at(200))
}

// reading returns the parameters for a record that is read at second 200, of node u, created at second -100.
func (v *viewed) reading(watched float64) journal.Observation {
	return journal.Observation{UID: "u", Created: at(-100), Version: v.version, At: at(200), Watched: at(watched)}
}

// read adopts a record, and reports whether that changes anything.
func (v *viewed) read(r journal.Record) (changed bool) {
	v.NodeHistory, changed = v.Adopt(r, v.reading(0))
	return changed
}

// wants requires exactly these histories.
func (v *viewed) wants(t *testing.T, histories ...string) {
	t.Helper()
	if diff := cmp.Diff(histories, show(v.Taints())); diff != "" {
		t.Error(diff)
	}
}

func TestAdopt(t *testing.T) {
	gpu, disk := noExecute("gpu", ""), noExecute("disk", "")
	load := func(v string) v1.Taint { return noExecute("load", v) }
	notReady, unreachable := noExecute(v1.TaintNodeNotReady, ""), noExecute(v1.TaintNodeUnreachable, "")
	for _, c := range []struct {
		name    string
		own     viewed
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

		{"what was seen after the list carries the record on", after(on("10", listed(100, gpu)), on("12", look(110, added(gpu, 109)))), recorded("3", look(7, gpu)), 0, []string{"gpu=@7"}},
		{"another taint that has changed since does not matter", after(on("10", listed(100, gpu)), on("12", look(110, gpu, disk))), recorded("3", look(7, gpu)), 0, []string{"gpu=@7", "disk=@110"}},
		{
			"a value that came back after the list is another state", after(on("10", listed(100, load("5"))), on("11", look(101, load("7"))), on("12", look(102, load("5"))), on("13", look(103, load("9")))),
			recorded("3", look(7, load("5"))), 0,
			[]string{"(load=5@7) (load=7@101) (load=5@102) load=9@103"},
		},
		{
			"a value that stands again is not the one recorded", after(on("10", listed(100, load("5"))), on("11", look(101, load("7"))), on("12", look(102, load("5")))),
			recorded("3", look(7, load("5"))), 0,
			[]string{"(load=5@7) (load=7@101) load=5@102"},
		},
		{"what was found in a later list counts from the record, too", after(on("5", look(1)), on("10", gap(3, gpu))), recorded("7", look(8, gpu)), 0, []string{"gpu=@8"}},
		{"but not if it was seen to be absent since", after(on("5", look(1)), on("10", gap(3, gpu))), recorded("4", look(2, gpu)), 0, []string{"gpu=@10"}},
		{"nor if it was seen to be absent then", after(on("5", look(1)), on("10", gap(3, gpu))), recorded("5", look(2, gpu)), 0, []string{"gpu=@10"}},

		{"a record that has seen as much wins over what was seen here", seen(look(20, gpu)), recorded("10", look(19.5, gpu)), 0, []string{"gpu=@19.5"}},
		{"a record that has seen more wins", seen(look(20, gpu)), recorded("11", on("10", look(19.5, gpu)), look(20, gpu, disk)), 0, []string{"gpu=@19.5"}},
		{"a record that has seen less means nothing", seen(look(20, gpu)), recorded("9", look(3, gpu)), 0, []string{"gpu=@20"}},
		{"a record that has seen less of another taint wins", seen(look(20, gpu), look(21, gpu, disk)), recorded("10", look(19.5, gpu)), 0, []string{"gpu=@19.5", "disk=@21"}},
		{"a record without a version means nothing for what was seen here", seen(look(20, gpu)), recorded("", look(3, gpu)), 0, []string{"gpu=@20"}},
		{
			"states seen here since the record was written carry it on", seen(look(20, load("1")), look(21, load("2")), look(22, load("3"))),
			recorded("11", on("10", look(19, load("1"))), look(20.5, load("2"))), 0,
			[]string{"(load=1@19) (load=2@20.5) load=3@22"},
		},
		{
			"a record that has seen more of the same states ends none of them", seen(look(20, load("1"))),
			recorded("11", on("10", look(19, load("1"))), look(20.5, load("2"))), 0,
			[]string{"load=1@19"},
		},
		{
			"nor does one that has seen the value come back", seen(look(20, load("1"))),
			recorded("12", on("10", look(19, load("1"))), on("11", look(20.5, load("2"))), look(21, load("1"))), 0,
			[]string{"load=1@19"},
		},
		{
			"a record of who has missed what was seen here wins, as there is to be one deadline", seen(look(20, load("1")), look(21, load("2")), look(22, load("1"))),
			recorded("12", on("3", look(2, load("1"))), listed(22, load("1"), disk)), 0,
			[]string{"load=1@2"},
		},
		{
			"what was recorded counts from no later than what was seen after it, though clocks differ", seen(look(20, load("1")), look(21, load("2"))),
			recorded("10", look(30, load("1"))), 0,
			[]string{"(load=1@21) load=2@21"},
		},

		{
			"a value that came back in a gap, of which the record has seen the end and the new begin, is the one recorded",
			after(on("10", look(20, notReady)), on("11", look(21, unreachable)), on("15", listed(160, notReady))),
			recorded("13", on("13", look(150, notReady))), 0,
			[]string{notReady.Key + "=@150"},
		},

		{
			"a value that changed after the record has seen the taint come back in a gap carries the record on",
			after(on("10", look(20, load("1"))), on("15", listed(160, load("2")))),
			recorded("13", on("13", look(150, load("3")))), 0,
			[]string{"(load=3@150) load=2@160"},
		},
		{
			"a value that stands in a list, and that the record has seen end in the gap, counts from the list",
			after(on("10", look(20, load("1"))), on("15", relisted(160, load("1"), load("2")))),
			recorded("13", on("13", look(150, load("2")))), 0,
			[]string{"load=2@150 load=1@160"},
		},
		{
			"but not while the record is of a version that is still to come",
			after(on("10", look(20, load("1"))), on("15", relisted(160, load("1"), load("2")))),
			recorded("17", on("13", look(150, load("2")))), 0,
			[]string{"load=1@20 load=2@150"},
		},

		{
			"so does one that the record has as ended",
			after(on("10", look(20, load("1"))), on("15", relisted(160, load("1"), load("2")))),
			recorded("13", on("10", look(21, load("1"))), on("13", look(150, load("2")))), 0,
			[]string{"(load=1@21) load=2@150 load=1@160"},
		},
		{
			"also if the list shows nothing else",
			after(on("10", look(20, load("1"))), on("15", relisted(160, load("1")))),
			recorded("13", on("13", look(150, load("2")))), 0,
			[]string{"(load=2@150) load=1@160"},
		},
		{
			"also if the list shows nothing else, and the record has it as ended",
			after(on("10", look(20, load("1"))), on("15", relisted(160, load("1")))),
			recorded("13", on("10", look(21, load("1"))), on("13", look(150, load("2")))), 0,
			[]string{"(load=1@21) (load=2@150) load=1@160"},
		},
		{
			"but not if the record has it again",
			after(on("10", look(20, load("1"))), on("15", relisted(160, load("1")))),
			recorded("15", on("10", look(21, load("1"))), on("13", look(150, load("2"))), on("15", look(155, load("1")))), 0,
			[]string{"(load=1@21) (load=2@150) load=1@155"},
		},
		{
			"nor if there was no gap since",
			after(on("10", relisted(20, load("1"))), on("15", look(160, load("1"), disk))),
			recorded("13", on("10", look(21, load("1"))), on("13", look(150, load("2")))), 0,
			[]string{"load=1@21", "disk=@160"},
		},

		{"a time before the node was made is clamped", found(gpu), recorded("3", look(-500, gpu)), 0, []string{"gpu=@-100"}},
		{"a time in the future is clamped", found(gpu), recorded("3", look(5000, gpu)), 0, []string{"gpu=@200"}},
		{"an empty record changes nothing", found(gpu), journal.Record{UID: "u"}, 0, []string{"gpu=@100"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			adopted, changed := c.own.Adopt(c.record, c.own.reading(c.watched))
			if diff := cmp.Diff(c.want, show(adopted.Taints())); diff != "" {
				t.Error(diff)
			}
			if again, changed := adopted.Adopt(c.record, c.own.reading(c.watched)); changed {
				t.Errorf("read once more, it changes to %v", show(again.Taints()))
			}
			if recorded := !cmp.Equal(show(c.own.Taints()), c.want); recorded && !changed {
				t.Error("nothing is said to have changed")
			}
		})
	}
}

func TestStatesThatARecordTellsOfInAdvanceCountFromItsTimesOnceTheyAreSeen(t *testing.T) {
	load := func(v string) v1.Taint { return noExecute("load", v) }
	own := seen(look(20, load("1")))
	own.read(recorded("12", on("10", look(19, load("1"))), on("11", look(20.5, load("2"))), look(21, load("1"))))
	own.look(on("11", look(21.5, load("2"))))
	own.wants(t, "(load=1@19) load=2@20.5")
	own.look(on("12", look(22.5, load("1"))))
	own.wants(t, "(load=1@19) (load=2@20.5) load=1@21")
}

// Otherwise a leader that has adopted such a record would move the deadline at each list.
func TestAListAfterTheRecordWasAdoptedMovesNothing(t *testing.T) {
	load := func(v string) v1.Taint { return noExecute("load", v) }
	own := after(on("10", look(20, load("1"))), on("15", relisted(160, load("1"))))
	own.read(recorded("13", on("13", look(150, load("2")))))
	own.look(on("15", relisted(300, load("1"))))
	own.look(on("16", look(310, load("1"), noExecute("disk", ""))))
	own.wants(t, "(load=2@150) load=1@160", "disk=@310")
}

func TestALifeThatOnlyTheRecordHasSeenChangesNothing(t *testing.T) {
	gpu := noExecute("gpu", "")
	own := found(gpu)
	own.read(recorded("8", look(7, gpu)))
	if own.read(recorded("14", look(150, gpu))) {
		t.Errorf("got %v", show(own.Taints()))
	}
}

func TestATaintThatTheRecordSawComeBackInAGapCountsFromThen(t *testing.T) {
	gpu := noExecute("gpu", "")
	own := found(gpu)
	own.look(on("14", gap(3, gpu)))
	own.read(recorded("12", look(150, gpu)))
	own.wants(t, "gpu=@150")
}

// relistedAt returns when a list after a gap has shown the oldest state of the only taint; -1 if none has.
func (v *viewed) relistedAt() float64 {
	if at := v.Taints()[0][0].Relisted; !at.IsZero() {
		return at.Sub(zero).Seconds()
	}
	return -1
}

// A record has when a list after a gap has shown a state; a standby that was shown it even later counts from then.
func TestWhenAListAfterAGapHasShownAStateIsRecorded(t *testing.T) {
	gpu := noExecute("gpu", "")
	for _, test := range []struct {
		name             string
		recorded, reader journal.Observation
		want             float64
	}{
		{"for a process that starts", relisted(50, gpu), listed(100, gpu), 50},
		{"for one that was shown it in a list of its own", relisted(50, gpu), relisted(100, gpu), 100},
		{"for one that was shown it earlier", relisted(50, gpu), relisted(30, gpu), 50},
		{"not of a state that the watch has shown", look(50, gpu), listed(100, gpu), -1},
		{"no later than now", relisted(5000, gpu), listed(100, gpu), 200},
		{"no earlier than the node", relisted(-5000, gpu), listed(100, gpu), -100},
	} {
		own := after(on("10", test.reader))
		own.read(recorded("10", on("10", test.recorded)))
		if got := own.relistedAt(); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestARecordThatDiffersOnlyInTheListOfAStateIsAdopted(t *testing.T) {
	gpu := noExecute("gpu", "")
	own, r := found(gpu), recorded("8", look(7, gpu))
	own.read(r)
	r.Taints[0][0].Relisted = at(50)
	if changed := own.read(r); !changed || own.relistedAt() != 50 {
		t.Errorf("changed: %t; listed at %v", changed, own.relistedAt())
	}
}

func TestWhenAListHasShownAStateStaysKnownAmongManyStates(t *testing.T) {
	own := viewed{}
	for i := range 12 {
		next := look(float64(i), noExecute("load", strconv.Itoa(i)))
		if i == 0 {
			next.Gap, next.Watched = true, at(-1000)
		}
		next.Version, next.Distinguishes = strconv.Itoa(10+i), func(_, _ *v1.Taint) bool { return false }
		own.look(next)
	}
	if states := own.Taints()[0]; len(states) != journal.States || !states[0].Relisted.Equal(at(0)) {
		t.Errorf("got %d states, the first listed at %v", len(states), own.relistedAt())
	}
}

// The later writing is the leader's, who has undone an edit that claims to know more.
func TestALaterWritingReplacesWhatWasAdoptedThoughItsVersionIsLower(t *testing.T) {
	gpu := noExecute("gpu", "")
	for _, version := range []string{"6", "8", "9"} {
		own := found(gpu)
		own.read(recorded("8", look(7, gpu)))
		own.read(recorded(version, look(9, gpu)))
		own.wants(t, "gpu=@9")
	}
}

func TestALaterWritingOfALowerVersionUndoesWhatWasAdoptedThoughItIsAboutAnEarlierPresence(t *testing.T) {
	gpu := noExecute("gpu", "")
	own := found(added(gpu, 50))
	own.read(recorded("10", look(7, gpu)))
	own.wants(t, "gpu=@7")
	own.read(recorded("8", look(6, gpu)))
	own.wants(t, "gpu=@51")
}

// The leader has not seen the taint yet, so that its record says nothing of it.
func TestAWritingThatUndoesAnEditUndoesAlsoWhatItSaysNothingOf(t *testing.T) {
	gpu, disk := noExecute("gpu", ""), noExecute("disk", "")
	for _, undone := range []float64{0, 60} {
		own := seen(look(120, disk), look(130, disk, gpu))
		own.read(received(140, written(50, recorded("11", on("11", look(1, disk, gpu))))))
		own.wants(t, "disk=@91", "gpu=@91")
		r := received(150, written(60, recorded("10", look(30, disk))))
		want := "gpu=@91"
		if r.Writing.Undone = at(undone); undone > 0 {
			want = "gpu=@130"
		} else {
			r.Writing.Undone = time.Time{}
		}
		own.read(r)
		own.wants(t, "disk=@120", want)
	}
}

func TestARecordEndsWithTheTaint(t *testing.T) {
	gpu := noExecute("gpu", "")
	own := found(gpu)
	own.read(recorded("8", look(7, gpu)))
	own.look(on("11", look(110)))
	own.look(on("12", look(120, gpu)))
	own.wants(t, "gpu=@120")
	if own.read(recorded("8", look(7, gpu))) {
		t.Errorf("the record of the presence before is taken over: %v", show(own.Taints()))
	}
}

func TestARecordReadAgainMovesNothingThoughTheClocksDrift(t *testing.T) {
	gpu := noExecute("gpu", "")
	own := found(gpu)
	own.read(recorded("8", look(7, gpu)))
	later := own.reading(0)
	later.At = at(220)
	if own, changed := own.Adopt(recorded("8", look(7, gpu)), later); changed {
		t.Errorf("got %v", show(own.Taints()))
	}
}

// A state that was shorter than an older one must not seem to have lasted until that one's end.
func TestAStateThatEndedBeforeAnEarlierOneDidDoesNotOutlastIt(t *testing.T) {
	notReady, unreachable := noExecute(v1.TaintNodeNotReady, ""), noExecute(v1.TaintNodeUnreachable, "")
	own := found(notReady, unreachable)
	own.read(recorded("10", on("8", look(7, notReady)), look(8, notReady, unreachable)))
	own.look(on("11", look(110, notReady)))
	own.look(on("12", look(120, unreachable)))
	own.wants(t, "("+notReady.Key+"=@7) "+unreachable.Key+"=@120")
}

// On a quiet cluster, a watch that expires is followed by a list at the version that was seen last.
func TestAListThatShowsNothingNewLosesNothing(t *testing.T) {
	notReady, unreachable := noExecute(v1.TaintNodeNotReady, ""), noExecute(v1.TaintNodeUnreachable, "")
	own := seen(look(100, notReady), look(101, notReady, unreachable))
	own.read(recorded("11", on("10", look(100, notReady)), on("11", look(101, notReady, unreachable))))
	own.look(on("12", look(110, notReady)))
	own.look(on("12", listed(115, notReady)))
	own.look(on("13", look(120, unreachable)))
	own.wants(t, "("+notReady.Key+"=@100) "+unreachable.Key+"=@120")
}

func TestARecordCountsThoughWhatItTellsOfWasSeenAndLostAmongManyStates(t *testing.T) {
	load := func(i int) v1.Taint { return noExecute("load", strconv.Itoa(i)) }
	all := func(_, _ *v1.Taint) bool { return false } // no pod distinguishes them
	own := after(on("10", listed(100, load(0))))
	own.look(on("14", listed(104, load(1)))) // it was removed and set again at 12, which no version shows
	for i := 2; i < 11; i++ {
		next := on(strconv.Itoa(13+i), look(float64(103+i), load(i)))
		next.Distinguishes = all
		own.look(next)
	}
	reading := own.reading(0)
	reading.Distinguishes = all
	now, _ := own.Adopt(recorded("15", on("12", look(102, load(1))), on("15", look(105, load(2)))), reading)
	if got := show(now.Taints())[0]; !strings.HasPrefix(got, "(load=2@102) ") {
		t.Errorf("got %v, want a start at 102", got)
	}
}

func TestAStateToldThatEndedBeforeTheFirstLookDoesNotOutlastOneThatWasStillThere(t *testing.T) {
	notReady, unreachable := noExecute(v1.TaintNodeNotReady, ""), noExecute(v1.TaintNodeUnreachable, "")
	own := found(notReady)
	own.read(recorded("9", on("8", look(7, notReady)), look(8, notReady, unreachable)))
	own.look(on("12", look(120, unreachable)))
	own.wants(t, "("+notReady.Key+"=@7) "+unreachable.Key+"=@120")
}

// A fake API server's versions never change.
func TestVersionsThatNeverChangeLoseNothing(t *testing.T) {
	notReady, unreachable := noExecute(v1.TaintNodeNotReady, ""), noExecute(v1.TaintNodeUnreachable, "")
	for _, version := range []string{"1", "x"} {
		own := after(on(version, listed(100, unreachable)), on(version, look(104, unreachable, notReady)),
			on(version, look(120, unreachable)), on(version, look(139, notReady)))
		want := []string{"(" + unreachable.Key + "=@100) " + notReady.Key + "=@139"}
		if diff := cmp.Diff(want, show(own.Taints())); diff != "" {
			t.Errorf("version %q: %s", version, diff)
		}
	}
}

func TestARecordsTimesRunOnTheMonotonicClock(t *testing.T) {
	now := time.Now()
	gpu := []v1.Taint{noExecute("gpu", "")}
	own := after(journal.Observation{Taints: gpu, At: now, Gap: true})
	r := journal.Record{UID: "u", Taints: after(journal.Observation{Taints: gpu, At: now.Add(-time.Minute).Round(0)}).Taints()}
	recorded, _ := own.Adopt(r, journal.Observation{UID: "u", Created: now.Add(-time.Hour).Round(0), At: now})
	since := recorded.Taints()[0][0].Since
	if !strings.Contains(since.String(), " m=") || now.Sub(since) != time.Minute {
		t.Errorf("got %v, want a minute before %v on the monotonic clock", since, now)
	}
}

// No record changes the set of a node's taints; each start stays within the node's lifetime, and the histories stay
// well-formed.
func TestNoRecordAddsOrTakesAwayATaint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own := drawKnown(t, "own")
		r := journal.RecordOf(&taint.Node{
			UID: "u", Taints: drawKnown(t, "record").Taints(),
			Version: rapid.SampledFrom([]string{"", "1", "2", "10", "x"}).Draw(t, "version"),
		}, at(200))
		adopted, _ := own.Adopt(r, own.reading(float64(rapid.IntRange(0, 200).Draw(t, "watched"))))
		if diff := cmp.Diff(standing(own.Taints()), standing(adopted.Taints())); diff != "" {
			t.Fatal(diff)
		}
		for _, h := range adopted.Taints() {
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
			t.Fatalf("%v is not within the node's presence", s.Since)
		}
		if i > 0 && s.Since.Before(h[i-1].Since) {
			t.Fatalf("out of order: %v", show([]taint.History{h}))
		}
	}
}

// standing returns the taints on the node, in order.
func standing(histories []taint.History) (on []string) {
	for _, h := range histories {
		for _, s := range h {
			if !s.Ended {
				on = append(on, s.Taint.ToString())
			}
		}
	}
	slices.Sort(on)
	return on
}

// drawKnown returns a node after a number of random observations.
func drawKnown(t *rapid.T, name string) viewed {
	var looks []journal.Observation
	second := 0
	for range rapid.IntRange(1, 12).Draw(t, name+" looks") {
		second += rapid.IntRange(0, 9).Draw(t, "pause")
		s := look(float64(second), drawTaints(t, second)...)
		s.Gap = rapid.Bool().Draw(t, "gap")
		if s.Gap && rapid.Bool().Draw(t, "relist") {
			s.Watched = at(-1000)
		}
		looks = append(looks, s)
	}
	return after(looks...)
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
