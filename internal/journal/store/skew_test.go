package store_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The test's process has the clock of the world; records with times far from it were written with a wrong clock.
func TestAStandbyCountsARecordFromWhenItReceivedTheWriting(t *testing.T) {
	for name, ahead := range map[string]float64{"ahead by 120 s": 120, "behind by 120 s": -120, "in step": 0} {
		t.Run("its clock is "+name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.start()
				w.pass(5)
				w.taint("n", "gpu") // at version 101
				p.knows("seen", "n", "gpu@5")
				w.pass(6)
				w.put("n", map[string]string{"_journal": w.head(6 - ahead), "n": w.entry("n", "101", "gpu", 5-ahead)})
				p.knows("recorded", "n", "gpu@5")
				p.lead()
				w.pass(10)
				p.knows("leading", "n", "gpu@5")
			})
		})
	}
}

func TestTheFirstWritingThatIsReceivedConvertsARecordOnceMore(t *testing.T) {
	inWorld(t, func(w *world) {
		w.taint("n", "gpu") // at version 101
		w.put("n", map[string]string{"_journal": w.head(-119), "n": w.entry("n", "101", "gpu", -120)})
		w.pass(3)
		p := w.start()
		p.knows("read at the start, by the wall clock", "n", "gpu@-120")
		w.pass(10)
		w.put("n", map[string]string{"_journal": w.head(-110), "n": w.entry("n", "101", "gpu", -120)})
		p.knows("written anew, by a clock that is 120 s behind", "n", "gpu@0")
		if len(p.adopted) != 2 {
			t.Errorf("told of %v, want twice of n", p.adopted)
		}
		w.pass(30)
		w.put("n", map[string]string{"_journal": w.head(-80), "n": w.entry("n", "101", "gpu", -120)})
		p.knows("and again, a while on the way", "n", "gpu@0")
		if len(p.adopted) != 2 {
			t.Errorf("told of %v, want twice of n", p.adopted)
		}
	})
}

func TestWhatWasReceivedOnceStaysAsItWasInLaterRecords(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start()
		w.taint("n", "gpu")
		w.put("n", map[string]string{"_journal": w.head(-120), "n": w.entry("n", "101", "gpu", -120)})
		p.knows("recorded", "n", "gpu@0")
		w.pass(10)
		w.taint("n", "gpu", "disk") // at version 102
		p.knows("seen", "n", "gpu@0 disk@10")
		w.pass(13) // the write takes 3 s
		w.put("n", map[string]string{"_journal": w.head(-110), "n": `{"uid":"uid-n","version":"102","taints":[[` + w.state("gpu", -120, "101") + `],[` + w.state("disk", -110, "102") + `]]}`})
		p.knows("recorded, with another taint", "n", "gpu@0 disk@13")
	})
}

func TestAPartitionThatWasFoundChangedConvertsByTheWallClock(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start()
		w.taint("n", "gpu")
		w.pass(1)
		w.fault(failing(broken, "watch", "list"))
		w.cut()
		w.put("n", map[string]string{"_journal": w.head(1), "n": w.entry("n", "101", "gpu", 0.5)})
		w.pass(20)
		w.fault(nil)
		w.pass(60)
		p.knows("found after a gap", "n", "gpu@0.5")
	})
}

func TestAPartitionOfAWriterWhoseClockIsBehindIsNoOlderThanItIs(t *testing.T) {
	for name, c := range map[string]struct {
		fields string
		want   string
	}{
		"the API server says when the partition was stored":          {`{"f:data":{"f:_journal":{},"f:n":{}}}`, "gpu@-10"},
		"it says only when something else of the object was written": {`{"f:metadata":{"f:labels":{}}}`, "gpu@-610"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.taint("n", "gpu")
				w.fields = []metav1.ManagedFieldsEntry{{
					Manager: "taint-manager", Time: new(metav1.NewTime(w.born.Add(-2 * time.Second))), FieldsV1: metav1.NewFieldsV1(c.fields),
				}}
				w.put("n", map[string]string{"_journal": w.head(-601), "n": w.entry("n", "101", "gpu", -610)})
				w.start().knows("read at the start", "n", c.want)
			})
		})
	}
}

func TestAReaderWhoseClockIsAheadShortensTheAgesOfItsFirstReading(t *testing.T) {
	inWorld(t, func(w *world) {
		w.taint("n", "gpu")
		w.put("n", map[string]string{"_journal": w.head(-119), "n": w.entry("n", "101", "gpu", -120)})
		w.pass(3)
		w.start().knows("read at the start", "n", "gpu@-120")
	})
	inWorld(t, func(w *world) {
		w.taint("n", "gpu")
		w.put("n", map[string]string{"_journal": w.head(-119), "n": w.entry("n", "101", "gpu", -120)})
		w.pass(3)
		w.ahead = 120 * time.Second
		w.start().knows("read by one who is ahead", "n", "gpu@0")
	})
}

// The response to a write may be lost. The partition that is found later contains nothing new for this process, even if
// its clock is behind, so that the time since the writing is unknown.
func TestALeaderTakesNothingOverFromItsOwnWriting(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fields = []metav1.ManagedFieldsEntry{{
			Manager: "taint-manager", Time: new(metav1.NewTime(w.born.Add(10 * time.Second))), FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:_journal":{},"f:n":{}}}`),
		}}
		p := w.start()
		w.pass(1)
		w.taint("n", "gpu")
		w.lose(failing(broken, "create", "update"))
		w.fault(failing(broken, "watch"))
		w.cut()
		p.lead()
		w.pass(2)
		if w.partition("n") == nil {
			t.Fatal("nothing was written")
		}
		w.fault(nil)
		w.lose(nil)
		w.pass(60)
		p.knows("after it has found the partition", "n", "gpu@1")
		p.troubled("after it has found the partition", "")
	})
}

// The new leader has seen the taint appear, long before the previous leader found it.
func TestTheFirstWritingOfANewLeaderConvertsARecordOnceMore(t *testing.T) {
	inWorld(t, func(w *world) {
		next := w.start()
		w.taint("n", "gpu") // at version 101
		w.pass(5)
		w.taint("n", "gpu") // at version 102: a heartbeat
		w.put("n", map[string]string{"_journal": w.head(5), "n": w.entry("n", "102", "gpu", 3)})
		next.knows("recorded by the leader", "n", "gpu@3")
		w.pass(30)
		w.ahead = 120 * time.Second
		p := w.start()
		p.knows("read by one who is ahead", "n", "gpu@30")
		next.lead()
		p.knows("written by the next leader", "n", "gpu@3")
	})
}
