package breaker

import (
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Foresee begins a term that continues the term of the leader that made the record, for a process that only foresees:
// what holds by the record still holds.
func (c *Core) Foresee(now time.Time, j Journaled) {
	for _, h := range j.Record.Holds {
		if name, ok := strings.CutPrefix(h.By, "policy "); ok && h.Holds {
			c.Step(now, PodsHeld{Policy: name, Pods: 1})
		}
	}
	c.Step(now, LeadershipBegan{})
	c.Step(now, Ready{j})
}

// Foreseen returns the present judge for a process that sees no pod released: the ends of all holds of the record count
// for all pods of their groups.
func (c *Core) Foreseen() policy.Judge {
	j := c.Judge()
	j.Facts.Holds = c.record.Holds
	return j
}
