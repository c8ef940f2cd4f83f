package leader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recorder is a manager that records its calls, and takes drain to end its own.
type recorder struct {
	notes     chan string
	drain     time.Duration
	run, lead error
}

func newRecorder() *recorder { return &recorder{notes: make(chan string, 10)} }

func (r *recorder) Run(ctx context.Context) error {
	if r.run != nil {
		return r.run
	}
	<-ctx.Done()
	r.notes <- "takes no more"
	time.Sleep(r.drain)
	r.notes <- "has drained"
	return nil
}

func (r *recorder) Lead(ctx context.Context) error {
	if r.lead != nil {
		return r.lead
	}
	<-ctx.Done()
	r.notes <- "leads no more"
	return nil
}

func (r *recorder) told() (all []string) {
	for len(r.notes) > 0 {
		all = append(all, <-r.notes)
	}
	return all
}

func TestTheLeadershipIsGivenBackOnlyOnceCallsHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		m := newRecorder()
		m.drain = 5 * time.Second
		err := Run(ctx, m, func(ctx context.Context, lead func(context.Context) error) error {
			err := lead(ctx)
			m.notes <- "gives back"
			return err
		})
		want := []string{"takes no more", "has drained", "leads no more", "gives back"}
		if diff := cmp.Diff(want, m.told()); err != nil || diff != "" {
			t.Errorf("err %v (-want +got):\n%s", err, diff)
		}
	})
}

func TestAManagerOrALeadershipThatFailsEndsTheProcess(t *testing.T) {
	failed := errors.New("no")
	for name, m := range map[string]*recorder{"it can't watch": {run: failed}, "it can't lead": {lead: failed}} {
		synctest.Test(t, func(t *testing.T) {
			m.notes = make(chan string, 10)
			if err := Run(t.Context(), m, Always); !errors.Is(err, failed) {
				t.Errorf("%s: got %v", name, err)
			}
		})
	}
}

func TestLeadershipWonWhileEndingIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		m := newRecorder()
		m.lead = errors.New("Run has ended")
		err := Run(ctx, m, func(campaigning context.Context, lead func(context.Context) error) error {
			<-ctx.Done()
			synctest.Wait() // until the manager's Run has ended
			return lead(campaigning)
		})
		if err != nil {
			t.Errorf("got %v", err)
		}
	})
}
