package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/status"
	"github.com/taint-manager/taint-manager/taint"
)

// evictedState is the state of a pod that the manager has evicted.
const evictedState = "evicted"

// askManager adds the manager's state of the pod.
func (e *explainOptions) askManager(ctx context.Context, explained *foresight.Explanation) error {
	client, err := newManagerClient(e.server)
	if err != nil {
		return err
	}
	s, err := client.snapshot(ctx)
	if err != nil {
		return err
	}
	explained.Manager = managedOf(s, &explained.Pod)
	for _, n := range notesOf(s.Manager) {
		if !slices.Contains(explained.Notes, n) { // the journal may have the same trips
			explained.Notes = append(explained.Notes, n)
		}
	}
	return nil
}

// managedOf returns the state of a pod in a snapshot. A pod that is gone is identified by its name alone.
func managedOf(s *status.Snapshot, p *foresight.ExplainedPod) *foresight.Managed {
	about := &foresight.Managed{Identity: s.Manager.Identity, Role: s.Manager.Role}
	is := func(namespace, name, uid string) bool {
		return namespace == p.Namespace && name == p.Name && (uid == p.UID || p.UID == "")
	}
	for i := range s.Evicted {
		if one := &s.Evicted[i]; is(one.Namespace, one.Pod, one.UID) && !one.DryRun {
			at := one.At.UTC()
			about.State, about.At = evictedState, &at
		}
	}
	for i := range s.Evictions {
		one := &s.Evictions[i]
		if !is(one.Namespace, one.Pod, one.UID) {
			continue
		}
		at := one.Deadline.UTC()
		about.State, about.At, about.SlowPlace = one.State, &at, one.SlowPlace
		about.Policy, about.HeldBy, about.WaitsFor, about.WaitsForRate = one.Policy, one.HeldBy, one.WaitsFor, one.WaitsForRate
		about.Attempts, about.Cause, about.Message, about.Budget = one.Attempts, one.Cause, one.Message, one.Budget
		if !one.NextTry.IsZero() {
			next := one.NextTry.UTC()
			about.NextTry = &next
		}
	}
	return about
}

// manager writes the manager's state of the pod.
func (t *explainText) manager() {
	m := t.Manager
	if m == nil {
		return
	}
	who := "The manager"
	if m.Identity != "" {
		who += " " + m.Identity
	}
	switch m.State {
	case "":
		t.Printf("\n%s has no eviction of it.\n", who)
		return
	case evictedState:
		t.Printf("\n%s has evicted it at %s.\n", who, taint.Stamp(*m.At))
		return
	}
	t.Printf("\n%s has its eviction as %s, due at %s", who, t.Paint(stateColour(m.State), m.State), taint.Stamp(*m.At))
	if m.Policy != "" {
		t.Printf(", by policy %s", m.Policy)
	}
	if m.HeldBy != "" {
		t.Printf("; held by %s", m.HeldBy)
	}
	if m.WaitsFor != "" {
		t.Printf("; it waits for %s", m.WaitsFor)
		if m.SlowPlace {
			t.WriteString(", because calls for pods like it are slow")
		}
	}
	t.WriteString(".\n")
	t.attempts(m)
}

// attempts describes the calls so far, and when the next one is.
func (t *explainText) attempts(m *foresight.Managed) {
	if m.Attempts > 0 {
		t.Printf("%s so far", calls(m.Attempts))
		if m.Cause != "" {
			t.Printf("; the last one ended in %s", m.Cause)
		}
		if m.Budget != "" {
			t.Printf(" (PodDisruptionBudget %s)", m.Budget)
		}
		if m.Message != "" {
			t.Printf(": %s", strings.TrimSuffix(strings.Join(strings.Fields(m.Message), " "), "."))
		}
		t.WriteString(".\n")
	}
	if m.NextTry != nil && m.State != status.Scheduled {
		t.Printf("%s.\n", nextTry(*m.NextTry, t.At))
	}
}

func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

// nextTry describes when the next call may start.
func nextTry(next, at time.Time) string {
	if !next.After(at) {
		return "The next call may start now"
	}
	return "The next call may start in " + lasting(at, next) + ", at " + taint.Stamp(next)
}
