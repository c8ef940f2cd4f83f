package policy

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Begin is when a policy with NoSchedule triggers came into force. Exposures by the policy begin no earlier, because
// nodes may have carried the taint for months.
type Begin struct {
	Policy string `json:"policy"`

	// Rules identifies the mode and the whole match. If the match changes, a policy of the same name begins again.
	Rules string    `json:"rules"`
	Began time.Time `json:"began"`
}

// Begins returns an entry for each policy in mode Enforce with NoSchedule triggers. Each of these policies begins now.
func (c *Config) Begins(now time.Time) (all []Begin) {
	for i := range c.Policies {
		if p := &c.Policies[i]; p.Mode != Audit && p.Match.triggersOnNoSchedule() {
			all = append(all, Begin{p.Name, p.rules(), now})
		}
	}
	return all
}

// rules returns a hash of the match. The mode is always Enforce, so the hash need not include it.
func (p *Policy) rules() string {
	text, _ := json.Marshal(p.Match) // a match always has a JSON form
	hash := fnv.New64a()
	_, _ = hash.Write(text) // never fails
	return strconv.FormatUint(hash.Sum64(), 36)
}

// began returns when the policy that decides the pair began, if that matters for the exposure; otherwise zero.
func (p *pair) began(m match) time.Time {
	if p.taint.Effect != v1.TaintEffectNoSchedule || m.Mode == Audit {
		return time.Time{}
	}
	return p.facts.Began[m.Name]
}
