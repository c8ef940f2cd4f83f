package explain

import (
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/taint"
)

// manager writes the manager's state of the pod: its calls so far, and when the next one is.
func (t *text) manager() {
	m := t.Manager
	if m == nil {
		return
	}
	t.Printf("\n%s ", strings.TrimSpace("Manager "+m.Identity))
	switch m.State {
	case "":
		t.WriteString("has not scheduled an eviction of this pod.\n")
		return
	case foresight.EvictedByManager:
		t.Printf("evicted this pod at %s.\n", taint.Stamp(*m.At))
		return
	}
	t.Printf("reports the eviction as %s, due at %s", t.Paint(answer.StateColour(m.State), m.State), taint.Stamp(*m.At))
	t.clauses(clause{" by policy %s", m.Policy}, clause{"; held by %s", m.HeldBy},
		clause{"; waiting for %s", m.WaitsFor})
	if m.Attempts > 0 {
		t.Printf("%s so far", foresight.Count(m.Attempts, "attempt"))
		t.clauses(clause{"; last result: %s", m.Cause}, clause{" (PodDisruptionBudget %s)", m.Budget},
			clause{": %s", strings.TrimSuffix(answer.OneLine(m.Message), ".")})
	}
	switch {
	case m.NextTry == nil || m.State == status.Scheduled:
	case m.NextTry.After(t.At):
		t.Printf("The next attempt is in %s, at %s.\n", answer.Lasting(t.At, *m.NextTry), taint.Stamp(*m.NextTry))
	case m.WaitsFor == "":
		t.WriteString("The next attempt is now.\n")
	}
}

// clause is a part of a sentence about something that may not be known.
type clause struct{ format, value string }

// clauses ends a sentence with the clauses that have a value.
func (t *text) clauses(list ...clause) {
	for _, c := range list {
		if c.value != "" {
			t.Printf(c.format, c.value)
		}
	}
	t.WriteString(".\n")
}
