package foresight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/policy"
)

// Pace says how a rate delays evictions, assuming that its bucket is full and no other evictions use it.
type Pace struct {
	Rate               string  `json:"rate,omitempty"` // name of the rate; empty for maxEvictionsPerSecond
	EvictionsPerSecond float64 `json:"evictionsPerSecond"`
	Delayed            int     `json:"delayed"` // number of evictions that the rate delays

	// Last is the earliest time at which the last delayed eviction can start.
	Last      time.Time `json:"last"`
	Evictions int       `json:"evictions"` // number of evictions that the rate applies to, up to that one
}

// Words says when the last of all these evictions can start: "at 0.001/s the last goes at 10:16:40Z at the earliest";
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

// Limited reports whether the rules limit evictions.
func (r *Ruleset) Limited() bool {
	return len(r.config.Guards.Rates) > 0 || r.MaxEvictionsPerSecond > 0
}

// going is a pod that the manager evicts.
type going struct {
	*pod
	*Prediction
}

// pace returns the pace of evictions from this time on; nil if no rate delays one.
func (r *rulesAt) pace(m *Model, at time.Time, pods []going) *Pace {
	if !r.ruleset.Limited() {
		return nil
	}
	var turns []dispatch.Turn
	for _, p := range pods {
		if p.DeletedBy != "" {
			continue
		}
		turns = append(turns, dispatch.Turn{
			At: *cmp.Or(p.Earliest, p.At), TaintKeys: r.taintKeys(p), NodeLabels: m.nodes[p.Node].Labels,
		})
	}
	return (*Pace)(dispatch.Foresee(at, turns, r.ruleset.config.Guards.Rates, r.ruleset.MaxEvictionsPerSecond))
}

// taintKeys returns the keys of the taints that evict a pod sooner or later.
func (r *rulesAt) taintKeys(p going) (keys []string) {
	const ever = 1 << 62 // all taints of the node evict by then
	permits, _ := r.Permits(&p.Pod, &r.nodes[p.Node].latest.Node, policy.Calls{}, p.At.Add(ever))
	for i := range permits {
		keys = append(keys, permits[i].Action.Taint.Key)
	}
	return keys
}

// ratesOf returns the rates that the pod cannot bypass: those that cover every taint that evicts it.
func (r *rulesAt) ratesOf(p going) []policy.Rate {
	keys := r.taintKeys(p)
	return slices.DeleteFunc(slices.Clone(r.ruleset.config.Guards.Rates), func(rate policy.Rate) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return !rate.Counts(key) })
	})
}

// addPace adds how the limits that apply to the eviction of a pod delay this eviction and others.
func (m *Model) addPace(e *Explanation, p going, by *rulesAt) {
	rates := by.ratesOf(p)
	switch {
	case p.DeletedBy != "" || len(rates) == 0 && by.ruleset.MaxEvictionsPerSecond == 0:
		return
	case m.whole == nil || m.whole.nodes[p.Node] == nil:
		by.noteLimits(&e.Remarks, rates)
		return
	}
	all := m.whole.rulesNow(e.At)
	limits := *all.ruleset
	limits.config.Guards.Rates = rates
	all.ruleset = &limits
	evicted := m.whole.evicted(&all)
	e.Pace = all.pace(m.whole, e.At, evicted)
	before := m.before(p, evicted, &all)
	if own := all.pace(m.whole, e.At, append(before, p)); own != nil && own.Evictions > len(before) {
		e.StartsAt = &own.Last
	}
}

// before returns the pods that are certainly evicted before p: those that precede it, need the same tokens, and wait
// for nothing else.
func (m *Model) before(p going, evicted []going, by *rulesAt) (list []going) {
	self, keys := m.whole.self(), by.taintKeys(p)
	for _, a := range evicted {
		same := a.precedes(p) && slices.Equal(by.taintKeys(a), keys)
		if same && m.asksNoBudget(a) && !isOwn(self, a.pod, a.Prediction) {
			list = append(list, a)
		}
	}
	return list
}

// evicted returns the pods that are to be evicted.
func (m *Model) evicted(by *rulesAt) (list []going) {
	for _, p := range m.pods {
		if prediction, _ := by.predict(&p.Pod); prediction.Evict {
			list = append(list, going{p, &prediction})
		}
	}
	return list
}

// precedes reports whether pod a has the namespace and node of pod p, and goes before p if both need the same tokens.
// Other pods may come before p when it is their turn.
func (a going) precedes(p going) bool {
	if a.Namespace != p.Namespace || a.Node != p.Node || a.DeletedBy != "" {
		return false
	}
	deadline := *cmp.Or(p.Earliest, p.At)
	return cmp.Or(a.At.Compare(deadline), cmp.Compare(p.Priority, a.Priority), cmp.Compare(a.UID, p.UID)) < 0
}

// asksNoBudget reports whether no budget applies to the eviction of a pod.
func (m *Model) asksNoBudget(p going) bool {
	if cmp.Or(p.Method, m.rules.method()) != evictMethod {
		return true
	}
	these, _ := covering(m.budgetsInOrder(), p.pod, p.Ready)
	return m.reading.BudgetsUnknown == "" && len(these) == 0
}

// noteLimits adds a note about the limits for which the eviction may have to wait. How long is unknown, because the
// other evictions are unknown.
func (r *rulesAt) noteLimits(remarks *Remarks, rates []policy.Rate) {
	var limits []string
	if most := r.ruleset.MaxEvictionsPerSecond; most > 0 {
		limits = append(limits, fmt.Sprintf("maxEvictionsPerSecond lets evictions start at %g/s", most))
	}
	for _, rate := range rates {
		limits = append(limits, fmt.Sprintf("rate %s lets evictions start at %g/s with a burst of %d", rate.Name,
			rate.EvictionsPerSecond, rate.Burst))
	}
	remarks.note("%s, so this one may wait for others that are due; if any of them waits, 'taint-manager pending -A' "+
		"shows when the last one can start", strings.Join(limits, ", and "))
}
