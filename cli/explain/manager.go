package explain

import (
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/taint"
)

// manager writes the manager's state of the pod.
func (t *text) manager() {
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
	case foresight.EvictedByManager:
		t.Printf("\n%s has evicted it at %s.\n", who, taint.Stamp(*m.At))
		return
	}
	t.Printf("\n%s has its eviction as "+
		"%s, due at %s", who, t.Paint(answer.StateColour(m.State), m.State), taint.Stamp(*m.At))
	if m.Policy != "" {
		t.Printf(", by policy %s", m.Policy)
	}
	if m.HeldBy != "" {
		t.Printf("; held by %s", m.HeldBy)
	}
	if m.WaitsFor != "" {
		t.Printf("; it waits for %s", m.Awaited())
	}
	t.WriteString(".\n")
	t.attempts(m)
}

// attempts describes the calls so far, and when the next one is.
func (t *text) attempts(m *foresight.Managed) {
	if m.Attempts > 0 {
		t.Printf("%s so far", foresight.Count(m.Attempts, "call"))
		if m.Cause != "" {
			t.Printf("; the last one ended in %s", m.Cause)
		}
		if m.Budget != "" {
			t.Printf(" (PodDisruptionBudget %s)", m.Budget)
		}
		if m.Message != "" {
			t.Printf(": %s", strings.TrimSuffix(answer.OneLine(m.Message), "."))
		}
		t.WriteString(".\n")
	}
	if m.NextTry != nil && m.State != status.Scheduled {
		t.Printf("%s.\n", nextTry(*m.NextTry, t.At))
	}
}

// nextTry describes when the next call may start.
func nextTry(next, at time.Time) string {
	if !next.After(at) {
		return "The next call may start now"
	}
	return "The next call may start in " + answer.Lasting(at, next) + ", at " + taint.Stamp(next)
}
