package foresight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/policy"
)

// Pace says how a rate delays evictions, if taint-manager has long been the leader and no other evictions use the rate.
type Pace struct {
	Rate               string  `json:"rate,omitempty"` // name of the rate; empty for maxEvictionsPerSecond
	EvictionsPerSecond float64 `json:"evictionsPerSecond"`
	Delayed            int     `json:"delayed"` // number of evictions that the rate delays

	// Last is the earliest time at which the last delayed eviction can start.
	Last      time.Time `json:"last"`
	Evictions int       `json:"evictions"` // number of evictions that the rate applies to, up to that one
}

// Words says when the last of so many evictions starts: "at 0.001/s the last goes at 10:16:40Z at the earliest". It is
// "" if no rate delays one.
func (p *Pace) Words(all int, clock func(time.Time) string) string {
	if p == nil {
		return ""
	}
	of := ""
	if p.Evictions < all {
		of = fmt.Sprintf(" of %d", p.Evictions)
	}
	return fmt.Sprintf("at %g/s the last%s goes at %s at the earliest", p.EvictionsPerSecond, of, clock(p.Last))
}

// limited reports whether the rules limit evictions.
func (r *Ruleset) limited() bool {
	return len(r.config.Guards.Rates) > 0 || r.MaxEvictionsPerSecond > 0
}

// going is a pod that the manager evicts.
type going struct {
	*pod
	*Prediction
}

// pace returns the pace of evictions from this time on; nil if no rate delays one.
func (r *rulesAt) pace(m *Model, at time.Time, pods []going) *Pace {
	if !r.ruleset.limited() {
		return nil
	}
	var turns []dispatch.Turn
	for _, p := range pods {
		if p.DeletedBy != "" {
			continue
		}
		t := dispatch.Turn{At: *p.At, TaintKeys: r.taintKeys(p), NodeLabels: m.nodes[p.Node].Labels}
		if p.Earliest != nil {
			t.At = *p.Earliest
		}
		turns = append(turns, t)
	}
	return (*Pace)(dispatch.Foresee(at, turns, r.ruleset.config.Guards.Rates, r.ruleset.MaxEvictionsPerSecond))
}

// taintKeys returns the keys of the taints because of which a pod goes, sooner or later.
func (r *rulesAt) taintKeys(p going) (keys []string) {
	const ever = 1 << 62 // all taints of the node evict by then
	permits, _ := r.Permits(&p.Pod, &r.nodes[p.Node].latest.Node, policy.Calls{}, p.At.Add(ever))
	for i := range permits {
		keys = append(keys, permits[i].Action.Taint.Key)
	}
	return keys
}

// notePace notes the limits for which the eviction of one pod may wait, though they do not delay it alone. The answer
// about one pod does not know the others, on which the time depends.
func (r *rulesAt) notePace(remarks *Remarks, p going) {
	if p.DeletedBy != "" || !r.ruleset.limited() {
		return
	}
	var limits []string
	if most := r.ruleset.MaxEvictionsPerSecond; most > 0 {
		limits = append(limits, fmt.Sprintf("maxEvictionsPerSecond lets evictions start at %g/s", most))
	}
	keys := r.taintKeys(p)
	for _, rate := range r.ruleset.config.Guards.Rates {
		if !slices.ContainsFunc(keys, func(key string) bool { return !rate.Counts(key) }) {
			limits = append(limits, fmt.Sprintf("rate %s lets evictions start at %g/s with a burst of %d", rate.Name,
				rate.EvictionsPerSecond, rate.Burst))
		}
	}
	if len(limits) > 0 {
		remarks.note("%s, so this one may wait for others that are due; if any of them waits, 'taint-manager pending -A' "+
			"shows when the last one can start", strings.Join(limits, ", and "))
	}
}
