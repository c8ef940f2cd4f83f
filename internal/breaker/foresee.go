package breaker

import (
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Foresee continues the term of the leader that made the record, for a process that only predicts: recorded holds that
// were in force are still in force.
func (c *Core) Foresee(now time.Time, j Journaled) {
	for _, h := range j.Record.Holds {
		if name, ok := strings.CutPrefix(h.By, "policy "); ok && h.Holds {
			c.Step(now, PodsHeld{Policy: name, Pods: 1})
		}
	}
	c.Step(now, LeadershipBegan{})
	c.Step(now, Ready{j})
}

// Foreseen returns the present judge for a process that does not see which pods are released: the recorded end of a
// hold counts for all pods of its group.
func (c *Core) Foreseen() policy.Judge {
	j := c.Judge()
	j.Facts.Holds = c.record.Holds
	return j
}
