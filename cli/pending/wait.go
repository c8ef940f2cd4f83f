package pending

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

const (
	// settle is how long no pod must have been left before a wait ends: until then, late pods may still be bound.
	settle = 10 * time.Second

	// overdue replaces the state due of a pod that should be gone, while it is unknown what blocks it.
	overdue eviction.State = "overdue"
)

// informed is the state of a cluster, with what a manager knows about its evictions.
type informed struct {
	following
	manager following
}

// Pending returns the state of the cluster, with the manager's state of each pod that is to be evicted. The manager may
// take long to answer, so it is asked first: the state of the cluster must not be older than its answer.
func (i *informed) Pending(ctx context.Context) *foresight.Pending {
	manager := i.manager.Pending(ctx)
	now := i.following.Pending(ctx)
	known := map[string]*foresight.PendingPod{}
	for _, p := range manager.Pods {
		known[p.UID] = p
	}
	for _, p := range now.Pods {
		if same := known[p.UID]; same != nil {
			p.State, p.Progress = same.State, same.Progress
		}
	}
	now.Notes, now.Paused = append(now.Notes, manager.Notes...), manager.Paused
	return now
}

// waitFor waits until no pod has been left for a while, and returns a sentence about the end. It prints the pods that
// hold it up.
func waitFor(ctx context.Context, of following, out *lines, timeout time.Duration) (end string, err error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, answer.ErrWouldEvict)
		defer cancel()
	}
	var last *foresight.Pending
	var empty emptiness
	bound := account{}
	err = each(ctx, of, func(now *foresight.Pending) (bool, error) {
		last = now
		for _, p := range now.Pods {
			if p.State == eviction.StateDue && p.Overdue(now.At) {
				p.State = overdue
			}
		}
		if h := now.Heartbeat; h != nil && h.Ended {
			return false, fmt.Errorf("no manager is running: it last wrote its journal at %s, so pods are not evicted, "+
				"and its policies may have changed", taint.Stamp(h.Written))
		}
		if err := bound.update(now); err != nil {
			return false, err
		}
		empty = empty.with(now)
		return empty.proven(), out.show(now)
	})
	if err != nil {
		return "", err
	}
	where, but := last.Focus.Words(last.OnNodes), ""
	if last.Spared != "" {
		but = ". But " + last.Spared
	}
	switch names := remaining(last); {
	case empty.proven() && len(names) > 0:
		return "", fmt.Errorf("no eviction is left%s, but %s that will not be evicted: %s; in all, %s%s", where,
			answer.Pods(len(names), "remains", "remain"), foresight.ShortList(names), bound, but)
	case empty.proven():
		return fmt.Sprintf("All evictions are complete%s: %s%s.", where, bound, but), nil
	case !errors.Is(context.Cause(ctx), answer.ErrWouldEvict):
		return "", errors.New("interrupted before all evictions were complete")
	}
	return fmt.Sprintf("After %s%s: %s In all, %s%s.", taint.Brief(timeout), where, left(last), bound, but),
		answer.ErrWouldEvict
}

// remaining returns the names of the pods that keep a node from being empty but are not evicted.
func remaining(p *foresight.Pending) []string {
	return slices.Concat(p.Bound(foresight.Unaffected), p.Bound(foresight.Kept))
}

// emptiness says since when no pod is left, and what the manager has written since.
type emptiness struct {
	since     time.Time // zero while a pod is left
	heartbeat time.Time // the first that was read since; zero if none was
	confirmed bool      // a later heartbeat was read: the manager wrote its policies after no pod was left
}

// with returns the state after this answer.
func (e emptiness) with(now *foresight.Pending) emptiness {
	if len(now.Pods)+len(now.Bound(foresight.Terminating)) > 0 || now.Stale || now.CannotSay() != nil {
		return emptiness{}
	}
	if e.since.IsZero() {
		e.since = time.Now()
	}
	switch h := now.Heartbeat; {
	case h == nil:
		e.confirmed = true
	case e.heartbeat.IsZero() && h.Read.After(e.since):
		e.heartbeat, e.confirmed = h.Written, false
	case !e.heartbeat.IsZero() && !h.Written.Equal(e.heartbeat):
		e.confirmed = true
	}
	return e
}

// proven reports whether no pod has been left for the time settle, and the manager has confirmed its policies since.
func (e emptiness) proven() bool {
	return !e.since.IsZero() && time.Since(e.since) >= settle && e.confirmed
}

// left counts the pods that are left, or says why their number is unknown.
func left(p *foresight.Pending) string {
	var sentences []string
	if len(p.Pods) > 0 {
		sentences = append(sentences, headline(p))
	}
	if names := p.Bound(foresight.Terminating); len(names) > 0 {
		sentences = append(sentences, answer.Pods(len(names), "is", "are")+" terminating: "+
			foresight.ShortList(names)+".")
	}
	if err := p.Remarks.CannotSay(); err != nil {
		sentences = append(sentences, err.Error()+".")
	}
	if p.Stale {
		sentences = append(sentences, "This may be out of date.")
	}
	if len(sentences) > 0 {
		return strings.Join(sentences, " ")
	}
	unproven := "No evictions are left, but not for " + taint.Brief(settle) + " yet"
	if p.Heartbeat != nil {
		unproven += ", or the manager has not written its journal since"
	}
	return unproven + "."
}

// holdsUp reports whether a pod in this state is evicted later than its deadline, or not at all.
func holdsUp(state eviction.State) bool {
	return state == eviction.StateHeld || state == overdue || slices.Contains(stuck(), state)
}
