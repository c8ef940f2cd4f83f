package journal_test

import (
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// written returns the record as read from a writing that was made at this second by its writer's clock.
func written(second float64, r journal.Record) journal.Record {
	r.Writing.At = at(second)
	return r
}

// received returns the record as read from a writing that this process received at this second.
func received(second float64, r journal.Record) journal.Record {
	r.Writing.Received = at(second)
	return r
}

// The node was created at second -100, its taint is found at second 100, and the record is read at second 200.
func TestTheAgeOfARecord(t *testing.T) {
	gpu := noExecute("gpu", "")
	record := recorded("3", look(7, gpu))
	stored := func(second float64, r journal.Record) journal.Record {
		r.Writing.Stored = at(second)
		return r
	}
	for _, c := range []struct {
		name   string
		record journal.Record
		ahead  time.Duration
		want   string
	}{
		{"found, it is by the wall clock", written(10, record), 0, "gpu=@7"},
		{"found by one who is ahead by 60 s, it is shorter by that", written(10, record), time.Minute, "gpu=@67"},
		{"found by one who is ahead by more than that, it is nothing", written(10, record), time.Hour, "gpu=@200"},
		{"of a writer who is behind by 60 s, it is shorter by that", stored(70, written(11, record)), 0, "gpu=@67"},
		{"of a writer who is in step, it is as it is", stored(11, written(10, record)), 0, "gpu=@7"},
		{"of a writer who is ahead by 6 s, it is longer by that", stored(3, written(10, record)), 0, "gpu=@1"},
		{"of a writer who is ahead like its reader, it is as it is", stored(10, written(70, recorded("3", look(67, gpu)))), time.Minute, "gpu=@67"},
		{"of a writer who is behind and a reader who is ahead, it is shorter by both", stored(70, written(11, record)), 20 * time.Second, "gpu=@87"},
		{"received, it is what it was when it was written", received(150, written(10, record)), 0, "gpu=@147"},
		{"the reader's clock does not matter then", received(150, written(10, record)), 30 * time.Second, "gpu=@147"},
		{"nor when it was stored", received(150, stored(170, written(10, record))), 0, "gpu=@147"},
		{"a state that began after it was written begins after it was received", received(150, written(5, record)), 0, "gpu=@152"},
		{"none is from before the node was made", received(150, written(100_000, record)), 0, "gpu=@-100"},
		{"which is later by as much as the reader is ahead", received(150, written(100_000, record)), 30 * time.Second, "gpu=@-70"},
		{"a partition that does not say when it was written is by the wall clock", received(150, record), 0, "gpu=@7"},
	} {
		own := found(gpu)
		now := own.reading(0)
		now.Ahead = c.ahead
		adopted, _ := own.Adopt(c.record, now)
		if got := show(adopted.Taints())[0]; got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestWhenAListHasShownARecordedStateIsOnTheClockOfTheReader(t *testing.T) {
	gpu, disk := noExecute("gpu", ""), noExecute("disk", "")
	looks := []journal.Observation{on("8", relisted(7, gpu)), look(30, gpu, disk)}
	one := recorded("8", looks[0])
	for _, c := range []struct {
		name   string
		record journal.Record
		ahead  time.Duration
		want   float64
	}{
		{"found", written(10, one), 0, 7},
		{"found by one who is ahead by 60 s", written(10, one), time.Minute, 67},
		{"received", received(150, written(10, one)), 0, 147},
	} {
		own := found(gpu)
		now := own.reading(0)
		now.Ahead = c.ahead
		own.NodeHistory, _ = own.Adopt(c.record, now)
		if got := own.relistedAt(); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}

	own := found(gpu)
	own.read(received(150, written(20, one)))
	own.read(received(165, written(31, recorded("9", looks...))))
	if got := own.relistedAt(); got != 137 {
		t.Errorf("a later writing, longer on its way, moves it from 137 to %v", got)
	}
	own.read(received(166, written(37, recorded("10", looks...))))
	if got := own.relistedAt(); got != 136 {
		t.Errorf("a later writing, shorter on its way, moves it from 137 to %v", got)
	}
}

func TestTheFirstWritingThatIsReceivedConvertsOnceMore(t *testing.T) {
	gpu, disk, zone := noExecute("gpu", ""), noExecute("disk", ""), noExecute("zone", "")
	own := found(gpu, disk)
	one := recorded("8", look(7, gpu), look(9, gpu, disk))
	own.read(written(10, one))
	own.wants(t, "gpu=@7", "disk=@9")
	if !own.read(received(150, written(20, one))) {
		t.Error("nothing is said to have changed")
	}
	own.wants(t, "gpu=@137", "disk=@139")
	if own.read(received(160, written(25, one))) || own.read(written(30, one)) {
		t.Errorf("read again, it is %v", show(own.Taints()))
	}

	// Later records keep its time, unless their writing was shorter on its way.
	two := []journal.Observation{look(7, gpu), on("8", look(9, gpu, disk)), look(30, gpu, disk, zone)}
	own.read(received(165, written(31, recorded("9", two...))))
	own.wants(t, "gpu=@137", "disk=@139")
	own.read(received(166, written(37, recorded("10", two...))))
	own.wants(t, "gpu=@136", "disk=@138")
}

// The leader undoes the edit only once it hears of it. By then, the forged time may be no longer in the future, and
// nothing but the leader's word tells the edit from a writing that was shorter on its way.
func TestAForgedTimeOfWritingThatTheLeaderHasUndoneIsNowhere(t *testing.T) {
	gpu := noExecute("gpu", "")
	for _, version := range []string{"8", "9"} {
		own := found(gpu)
		own.read(received(150, written(20, recorded("8", look(7, gpu)))))
		own.wants(t, "gpu=@137")
		own.read(received(160, written(50, recorded("9", look(7, gpu)))))
		own.wants(t, "gpu=@117")
		later := received(185, written(55, recorded(version, look(7, gpu))))
		later.Writing.Undone = at(55)
		own.read(later)
		own.wants(t, "gpu=@137")
	}
}
