package breaker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiver collects the effects that a tracker passes on.
type receiver struct {
	mu      sync.Mutex
	judges  []policy.Judge
	records []breaker.Record
	events  []breaker.Event
	journal breaker.Record
	tier    string // of all namespaces
	order   []string
	lacks   error // why the cache cannot get what is needed
}

func (r *receiver) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order = append(r.order, what)
}

func (r *receiver) keep(n policy.Needs) <-chan error {
	r.note(fmt.Sprintf("keep %q", n.Values))
	has := make(chan error, 1)
	if has <- r.lacks; r.lacks == nil {
		close(has)
	}
	return has
}

func (r *receiver) namespaces() policy.Namespaces {
	r.mu.Lock()
	defer r.mu.Unlock()
	tier := r.tier
	return func(string) (map[string]string, bool) { return map[string]string{"tier": tier}, true }
}

func (r *receiver) journaled() breaker.Journaled {
	r.mu.Lock()
	defer r.mu.Unlock()
	return breaker.Journaled{Record: r.journal, Known: true}
}

func (r *receiver) options(c breaker.Config) breaker.Options {
	return breaker.Options{
		Config: c,
		Judged: func(j policy.Judge) {
			r.note("judge")
			r.mu.Lock()
			defer r.mu.Unlock()
			r.judges = append(r.judges, j)
		},
		Record:     func(g breaker.Record) { r.mu.Lock(); defer r.mu.Unlock(); r.records = append(r.records, g) },
		Report:     func(e breaker.Event) { r.mu.Lock(); defer r.mu.Unlock(); r.events = append(r.events, e) },
		Journaled:  r.journaled,
		Namespaces: r.namespaces,
		Keep:       r.keep,
		SetPaused:  func(paused bool) { r.note(fmt.Sprintf("paused %t", paused)) },
	}
}

func TestATripEndsByTimeAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got receiver
		tracker := breaker.NewTracker(got.options(whole(false)))
		tracker.Put(breaker.NodesChanged{Changes: nodes(4, 3)}) // before Run
		go tracker.Run(t.Context())
		tracker.Put(breaker.LeadershipBegan{})
		tracker.Put(breaker.Ready{})
		if len(tracker.Trips()) != 1 {
			t.Fatalf("got the trips %+v", tracker.Trips())
		}
		tracker.Put(breaker.NodesChanged{Changes: nodes(4, 0)})
		time.Sleep(61 * time.Second)
		synctest.Wait()
		got.mu.Lock()
		defer got.mu.Unlock()
		if len(tracker.Trips()) != 0 || len(got.events) != 2 || !got.events[1].At.Equal(got.events[0].At.Add(time.Minute)) {
			t.Errorf("got the trips %+v and the events %+v", tracker.Trips(), got.events)
		}
		last, stored := got.judges[len(got.judges)-1], got.records[len(got.records)-1]
		if len(last.Facts.Tripped) != 0 || len(endsOf(stored)) != 1 {
			t.Errorf("the last judge has the facts %+v, and the last record is %+v", last.Facts, stored)
		}
	})
}

// The journal may be read between the beginning of the leadership and its report. A leader that counted its holds as
// unknown would begin each deleteAfter again.
func TestALeaderKnowsWhatTheJournalHasWhenItsLeadershipIsProcessed(t *testing.T) {
	got := receiver{journal: breaker.Record{Holds: []policy.HoldRecord{{By: policy.ByPause, Ended: time.Now()}}}}
	tracker := breaker.NewTracker(got.options(whole(false)))
	for _, in := range []breaker.Input{breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.Ready{}, breaker.LeadershipBegan{}} {
		tracker.Put(in)
	}
	want(t, "the facts", endsOf(breaker.Record{Holds: got.judges[len(got.judges)-1].Facts.Holds}), endsOf(got.journal))
}

// Two goroutines report namespaces. The goroutine that has read them first may report them last.
func TestTheLabelsOfNamespacesAreThoseOfTheMomentAtWhichTheyAreProcessed(t *testing.T) {
	got := receiver{tier: "test"}
	tracker := breaker.NewTracker(got.options(whole(false)))
	before := got.namespaces()
	got.tier = "prod"
	tracker.Put(breaker.NamespacesChanged{Namespaces: got.namespaces()})
	tracker.Put(breaker.NamespacesChanged{Namespaces: before})
	if labels, _ := got.judges[len(got.judges)-1].Facts.Namespaces("shop"); labels["tier"] != "prod" {
		t.Errorf("the labels are %v, want those of now", labels)
	}
}

func TestTimeAloneChangesNothingOnceRunHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got receiver
		tracker := breaker.NewTracker(got.options(whole(false)))
		for _, in := range []breaker.Input{breaker.Ready{}, breaker.NodesChanged{Changes: nodes(4, 3)}, breaker.NodesChanged{Changes: nodes(4, 0)}} {
			tracker.Put(in)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		tracker.Run(ctx)
		time.Sleep(time.Hour)
		if len(tracker.Trips()) != 1 {
			t.Errorf("got the trips %+v", tracker.Trips())
		}
		tracker.Put(breaker.TimePassed{})
		if len(tracker.Trips()) != 1 {
			t.Errorf("after an input, got the trips %+v", tracker.Trips())
		}
	})
}
