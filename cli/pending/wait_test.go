package pending

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// drain is a node whose state changes at some seconds.
type drain struct {
	began  time.Time
	states map[int]func(*foresight.Pending) // from this second on
}

func (d *drain) News() <-chan struct{} { return nil }

func (d *drain) Pending(context.Context) *foresight.Pending {
	now := foresight.NewPending(time.Now(), foresight.Focus{}, []string{"n1"}, nil)
	for second := int(time.Since(d.began) / time.Second); second >= 0; second-- {
		if state, ok := d.states[second]; ok {
			state(now)
			break
		}
	}
	if len(now.Bound(foresight.Orphaned)) == 0 {
		now.Others = append(now.Others, bound("t", foresight.Tolerating), bound("m", foresight.Mirror))
	}
	return now
}

// has returns a state with a pod whose eviction is due at second 1.
func (d *drain) has(state eviction.State) func(*foresight.Pending) {
	return func(now *foresight.Pending) {
		p := pendingPod("a", "a", 1, d.began)
		p.State, p.Node = state, "n1"
		if state == eviction.StateHeld {
			p.Evict, p.HeldBy, p.Reason = false, "policy quarantine", "held by policy quarantine"
		}
		now.Pods = []*foresight.PendingPod{p}
	}
}

// wait waits for a node, and returns the end and the lines.
func wait(ctx context.Context, of following, timeout time.Duration) (end, said string, err error) {
	var out strings.Builder
	end, err = waitFor(ctx, of, &lines{w: &out, notes: io.Discard}, timeout)
	return end, out.String(), err
}

func nothing(*foresight.Pending) {}

func bound(name string, s foresight.Standing) *foresight.BoundPod {
	return &foresight.BoundPod{PodRef: foresight.PodRef{Namespace: "shop", Name: name, UID: name, Node: "n1"}, Standing: s}
}

// is returns a state in which the pod that was to go has this standing.
func is(s foresight.Standing) func(*foresight.Pending) {
	return func(now *foresight.Pending) { now.Others = []*foresight.BoundPod{bound("a", s)} }
}

func TestAWaitEndsTenSecondsAfterTheLastPodIsGone(t *testing.T) {
	leaving := is(foresight.Terminating)
	for name, c := range map[string]struct {
		states func(d *drain) map[int]func(*foresight.Pending)
		ends   time.Duration // 0: at the timeout
		said   string
	}{
		"nothing is there": {func(*drain) map[int]func(*foresight.Pending) { return nil }, 10 * time.Second, ""},
		"a pod goes": {func(d *drain) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: d.has(eviction.StateScheduled), 1: d.has(eviction.StateDue), 3: nothing}
		}, 13 * time.Second, ""},
		"accepted is not gone": {func(d *drain) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: d.has(eviction.StateDue), 3: leaving, 20: nothing}
		}, 30 * time.Second, ""},
		"a late pod is bound": {func(d *drain) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: nothing, 9: d.has(eviction.StateDue), 12: nothing}
		}, 22 * time.Second, ""},
		"it is held and released": {func(d *drain) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: d.has(eviction.StateHeld), 2: d.has(eviction.StateDue), 4: nothing}
		}, 14 * time.Second, "held shop/a on node n1, at 2000-01-01T00:00:01Z: held by policy quarantine|due shop/a on node n1, at 2000-01-01T00:00:01Z: because|"},
		"it is blocked": {func(d *drain) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: d.has(eviction.StateDue), 2: d.has(eviction.StateBlocked), 4: nothing}
		}, 14 * time.Second, "blocked shop/a on node n1, at 2000-01-01T00:00:01Z: because|"},
		"it is overdue": {func(d *drain) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: d.has(eviction.StateDue), 15: nothing}
		}, 25 * time.Second, "overdue shop/a on node n1, at 2000-01-01T00:00:01Z: because|"},
		"it stays": {func(d *drain) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: d.has(eviction.StateHeld)}
		}, 0, "held shop/a on node n1, at 2000-01-01T00:00:01Z: held by policy quarantine|"},
		"the cluster can't be watched": {func(*drain) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: func(now *foresight.Pending) { now.Stale = true }}
		}, 0, ""},
		"something is not known": {func(*drain) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: func(now *foresight.Pending) { now.Incomplete = []string{"x"} }}
		}, 0, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &drain{began: time.Now()}
			d.states = c.states(d)
			end, out, err := wait(t.Context(), d, time.Minute)
			took := time.Since(d.began)
			switch {
			case c.ends == 0 && (!errors.Is(err, answer.ErrWouldEvict) || took != time.Minute || !strings.HasPrefix(end, "After 1m on n1: ")):
				t.Errorf("%s: after %v: %q, %v", name, took, end, err)
			case c.ends > 0 && (err != nil || took < c.ends || took > c.ends+time.Second || !strings.HasPrefix(end, "All evictions are complete on n1: 1 pod ") || !strings.HasSuffix(end, " tolerates the taints, 1 is a static pod.")):
				t.Errorf("%s: after %v, want %v: %q, %v", name, took, c.ends, end, err)
			}
			var said strings.Builder
			for line := range strings.Lines(out) {
				_, change, _ := strings.Cut(strings.TrimSpace(line), " ")
				said.WriteString(change + "|")
			}
			if diff := cmp.Diff(c.said, said.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

// heartbeats is a node on which nothing is left to go, with a manager that writes every 20 s from second 5 on. It is read
// every 2 s.
type heartbeats struct{ drain }

func (h *heartbeats) Pending(ctx context.Context) *foresight.Pending {
	now := h.drain.Pending(ctx)
	if now.Heartbeat != nil {
		return now
	}
	read := h.began.Add(time.Since(h.began).Truncate(2 * time.Second))
	written := read.Sub(h.began.Add(5 * time.Second)).Truncate(20 * time.Second)
	now.Heartbeat = &foresight.Heartbeat{Written: h.began.Add(written), Read: read}
	return now
}

func TestAWaitEndsOnlyAfterTheManagerHasWrittenAgain(t *testing.T) {
	silent := func(now *foresight.Pending) {
		now.Heartbeat = &foresight.Heartbeat{Written: now.At.Truncate(24 * time.Hour), Read: time.Now()}
	}
	over := func(now *foresight.Pending) {
		now.Heartbeat = &foresight.Heartbeat{Written: now.At.Add(-2 * time.Minute), Ended: true}
	}
	for name, c := range map[string]struct {
		states func(h *heartbeats) map[int]func(*foresight.Pending)
		ends   time.Duration // 0: at the timeout
		fails  string
	}{
		"nothing is there": {func(*heartbeats) map[int]func(*foresight.Pending) { return nil }, 26 * time.Second, ""},
		"a reload shows a pod": {func(h *heartbeats) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: nothing, 12: h.has(eviction.StateDue), 30: nothing}
		}, 46 * time.Second, ""},
		"the manager falls silent": {func(*heartbeats) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: silent}
		}, 0, ""},
		"the manager ends": {func(*heartbeats) map[int]func(*foresight.Pending) {
			return map[int]func(*foresight.Pending){0: nothing, 8: over}
		}, 8 * time.Second, "no manager is running: it last wrote its journal at 1999-12-31T23:58:08Z"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &heartbeats{drain{began: time.Now()}}
				h.states = c.states(h)
				_, _, err := wait(t.Context(), h, 2*time.Minute)
				took := time.Since(h.began)
				switch {
				case c.ends == 0 && (!errors.Is(err, answer.ErrWouldEvict) || took != 2*time.Minute):
					t.Errorf("after %v: %v", took, err)
				case c.fails != "" && (err == nil || !strings.HasPrefix(err.Error(), c.fails)), c.ends > 0 && c.fails == "" && err != nil:
					t.Errorf("after %v: %v", took, err)
				case c.ends > 0 && (took < c.ends || took > c.ends+2*time.Second):
					t.Errorf("after %v, want %v", took, c.ends)
				}
			})
		})
	}
}

func TestAWaitSaysThatNoCountdownRunsOnADeadNode(t *testing.T) {
	for begins, state := range map[string]func(d *drain) func(*foresight.Pending){
		"All evictions are complete on n1: ": func(*drain) func(*foresight.Pending) { return nothing },
		"no eviction is left on n1, but 1 pod remains that will not be evicted: shop/a; ": func(*drain) func(*foresight.Pending) {
			return is(foresight.Unaffected)
		},
		"After 1m on n1: ": func(d *drain) func(*foresight.Pending) { return d.has(eviction.StateDue) },
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &drain{began: time.Now()}
			d.states = map[int]func(*foresight.Pending){0: func(now *foresight.Pending) {
				state(d)(now)
				now.NotePods([]foresight.SparedNode{{Name: "n1"}})
			}}
			end, _, err := wait(t.Context(), d, time.Minute)
			if end == "" {
				end = err.Error()
			}
			const but = ". But node n1 has the not-ready or unreachable taint only with effect NoSchedule, which starts no countdown. "
			if !strings.HasPrefix(end, begins) || !strings.Contains(end, but) {
				t.Errorf("got %q, %v", end, err)
			}
		})
	}
}

func TestAWaitSaysWhatIsLeftAtItsTimeout(t *testing.T) {
	for want, state := range map[string]func(d *drain, now *foresight.Pending){
		"0 evictions; 1 pod is held. 1 pod is terminating: shop/b. In all, 1 pod is still to go, 1 is terminating, 1": func(d *drain, now *foresight.Pending) {
			d.has(eviction.StateHeld)(now)
			now.Others = []*foresight.BoundPod{bound("b", foresight.Terminating)}
		},
		"This may be out of date. In all, 1 pod":                    func(_ *drain, now *foresight.Pending) { now.Stale = true },
		"incomplete answer: x. In all, 1 pod":                       func(_ *drain, now *foresight.Pending) { now.Incomplete = []string{"x"} },
		"No evictions are left, but not for 10s yet. In all, 1 pod": func(*drain, *foresight.Pending) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &drain{began: time.Now()}
			d.states = map[int]func(*foresight.Pending){0: func(now *foresight.Pending) { state(d, now) }}
			end, _, err := wait(t.Context(), d, 9*time.Second)
			if end != "After 9s on n1: "+want+" tolerates the taints, 1 is a static pod." || !errors.Is(err, answer.ErrWouldEvict) {
				t.Errorf("got %q, %v", end, err)
			}
		})
	}
}

// The pod that was to go is gone in the second that is named, and its standing follows.
func TestAWaitAccountsForEveryPodThatWasBound(t *testing.T) {
	const rest = "1 tolerates the taints, 1 is a static pod"
	const remains = "no eviction is left on n1, but 1 pod remains that will not be evicted: shop/a; in all, "
	orphans := func(now *foresight.Pending) {
		now.Others = []*foresight.BoundPod{bound("a", foresight.Orphaned), bound("m", foresight.Orphaned)}
	}
	mirror := func(now *foresight.Pending) {
		now.Others = []*foresight.BoundPod{bound("m", foresight.Orphaned)}
	}
	for name, c := range map[string]struct {
		then func(*foresight.Pending)
		want string
	}{
		"gone":      {nothing, "1 pod is gone, " + rest},
		"finished":  {is(foresight.Finished), "1 pod has finished, " + rest},
		"tolerates": {is(foresight.Tolerating), "2 pods tolerate the taints, 1 is a static pod"},
		"untainted": {is(foresight.Unaffected), remains + "1 pod tolerates the taints, 1 stays, 1 is a static pod"},
		"kept":      {is(foresight.Kept), remains + "1 pod tolerates the taints, 1 is kept by a finalizer, 1 is a static pod"},
		"daemon":    {is(foresight.OfDaemonSet), "1 pod tolerates the taints, 1 belongs to a DaemonSet, 1 is a static pod"},
		"node deleted": {orphans, "node n1 was deleted while 1 pod was bound to it: shop/a; it is unknown whether their containers have " +
			"stopped, and the pod garbage collector deletes the pods; in all, 1 pod is gone, 2 are left to the pod garbage collector"},
		"node deleted with its mirror pod": {mirror, "2 pods are gone, 1 is left to the pod garbage collector"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &drain{began: time.Now()}
			d.states = map[int]func(*foresight.Pending){0: d.has(eviction.StateDue), 2: c.then}
			end, _, err := wait(t.Context(), d, time.Minute)
			if err != nil {
				end = err.Error()
			}
			if end = strings.TrimPrefix(end, "All evictions are complete on n1: "); strings.TrimSuffix(end, ".") != c.want {
				t.Errorf("%s: %q", name, end)
			}
		})
	}
}

// Ctrl-C must not look like an empty node.
func TestAnInterruptedWaitFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		end, _, err := wait(ctx, &drain{began: time.Now()}, time.Minute)
		if end != "" || err == nil || errors.Is(err, answer.ErrWouldEvict) {
			t.Errorf("got %q, %v", end, err)
		}
	})
}

// asked is a manager that has answered.
type asked struct {
	following
	now *foresight.Pending
}

func (a asked) Pending(context.Context) *foresight.Pending { return a.now }

// The manager knows what is in the way, and the cluster what is left to go.
func TestAWaitThatAsksTheManagerHasItsStates(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	cluster := foresight.NewPending(at, foresight.Focus{}, nil, []*foresight.PendingPod{pendingPod("a", "a", 0, at), pendingPod("b", "b", 0, at)})
	blocked := pendingPod("a", "a", 0, at)
	blocked.State, blocked.Cause = eviction.StateBlocked, "pdb"
	manager := foresight.NewPending(at, foresight.Focus{}, nil, []*foresight.PendingPod{blocked, pendingPod("other", "other", 0, at)})
	manager.Paused = true
	now := (&informed{asked{now: cluster}, asked{now: manager}}).Pending(t.Context())
	if len(now.Pods) != 2 || now.Pods[0].State != eviction.StateBlocked || now.Pods[0].Cause != "pdb" || now.Pods[1].State != eviction.StateScheduled || !now.Paused {
		t.Errorf("got %+v", now)
	}
}

// answering is a manager that takes its time.
type answering struct {
	following
	meanwhile func()
}

func (a answering) Pending(context.Context) *foresight.Pending {
	a.meanwhile()
	return foresight.NewPending(time.Time{}, foresight.Focus{}, nil, nil)
}

// A pod may be bound while the manager is slow to answer.
func TestAWaitReadsTheClusterAfterTheManager(t *testing.T) {
	cluster := &drain{began: time.Now(), states: map[int]func(*foresight.Pending){}}
	manager := answering{meanwhile: func() { cluster.states[0] = cluster.has(eviction.StateDue) }}
	if now := (&informed{cluster, manager}).Pending(t.Context()); len(now.Pods) != 1 {
		t.Errorf("got %+v", now)
	}
}

func TestTheHeadlineCountsWhatMatters(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var pods []*foresight.PendingPod
	for state, n := range map[eviction.State]int{
		eviction.StateScheduled: 61, eviction.StateBlocked: 3, eviction.StateRefused: 2, eviction.StateDelayed: 2, eviction.StateInFlight: 1, eviction.StateHeld: 4,
	} {
		for range n {
			seconds := -60.0
			if state == eviction.StateScheduled {
				seconds = 1
			}
			p := pendingPod("", "a", seconds, at)
			p.State, p.Evict = state, state != eviction.StateHeld
			pods = append(pods, p)
		}
	}
	p := foresight.NewPending(at, foresight.Focus{}, nil, pods)
	const want = "69 evictions: 3 blocked, 2 refused, 2 delayed, 1 in-flight, 61 scheduled; next in 1s; 4 pods are held."
	if got := headline(p); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Paused = true
	if got := headline(p); got != "PAUSED: "+want {
		t.Errorf("paused: got %q", got)
	}
}

// Held rows keep the deadline that they would have, and the reason.
func TestAHeldRowHasItsDeadlineAndItsReason(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	p := pendingPod("a", "a", 30, at)
	p.State, p.Evict, p.HeldBy, p.HeldDeadline, p.ExposedSince = eviction.StateHeld, false, "breaker outage", p.At, &at
	now := foresight.NewPending(at, foresight.Focus{}, nil, []*foresight.PendingPod{p})
	shown := shown(now, 0)
	if !strings.Contains(shown, "held  12:00:30Z  shop/a  node-1  held   node.kubernetes.io/unreachable  held by breaker outage, otherwise evicted after 30s") {
		t.Errorf("got:\n%s", shown)
	}
}
