package evict

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
)

// rates are the rates of the limiter, and which evictions wait for them. The zero value has none. It is pure, and not
// safe for concurrent use.
type rates struct {
	list    []policy.Rate
	buckets *guard.Rates // nil before the first list

	// Since the last change: an eviction had to wait, or to wait for the end of a call.
	waits, waitsForEnd bool

	changed bool // evictions that wait are to try again
}

// set replaces the rates. A rate that keeps its name and its groups keeps its level; others begin empty.
func (r *rates) set(now time.Time, list []policy.Rate) {
	r.list, r.changed = slices.Clone(list), true
	if r.buckets == nil {
		r.buckets = guard.NewRates(now, r.list)
		return
	}
	r.buckets.Replace(now, r.list)
}

// begin empties all buckets: a leader before this one may have used what is in them. Tokens of its permits, which start
// no call any longer, go back to its own buckets.
func (r *rates) begin(now time.Time) {
	if len(r.list) > 0 {
		r.buckets, r.changed = guard.NewRates(now, r.list), true
	}
}

// take takes a token of each rate that counts the eviction, or none and returns the wait.
func (r *rates) take(now time.Time, taintKey string, nodeLabels map[string]string) (guard.Tokens, guard.Wait) {
	if len(r.list) == 0 {
		return guard.Tokens{}, guard.Wait{}
	}
	tokens, wait := r.buckets.Take(now, taintKey, nodeLabels)
	if wait.Rate != "" {
		r.waits, r.waitsForEnd = true, r.waitsForEnd || wait.Until.IsZero()
	}
	return tokens, wait
}

// giveBack returns the tokens of a permit that was not used, or of a call that deleted nothing.
func (r *rates) giveBack(tokens guard.Tokens) {
	tokens.Return()
	r.changed = r.changed || r.waits && !tokens.None() // else two that wait would wake each other for ever
}

// keep takes the tokens of a call that may have deleted its pod. Until then, evictions may not have known for how long
// they wait.
func (r *rates) keep(now time.Time, tokens guard.Tokens) {
	tokens.Keep(now)
	r.changed = r.changed || r.waitsForEnd && !tokens.None()
}

// end settles the tokens of a call. A dry run counts as a deletion, so that it shows when pods would go.
func (r *rates) end(now time.Time, tokens guard.Tokens, o eviction.Outcome) {
	if o.MayHaveDeleted() || o.Kind == eviction.DryRun {
		r.keep(now, tokens)
		return
	}
	r.giveBack(tokens)
}

// takeChanged reports whether evictions that wait are to try again, and forgets it.
func (r *rates) takeChanged() bool {
	changed := r.changed
	if changed {
		r.changed, r.waits, r.waitsForEnd = false, false, false
	}
	return changed
}

// SetRates replaces the rates, which must be valid. A rate that keeps its name and its topologyKey keeps its level;
// others begin empty. Calls under way keep their tokens.
func (g *Limiter) SetRates(now time.Time, list []policy.Rate) { g.rates.set(now, list) }

// RatesChanged reports whether evictions that wait for a rate are to try again before their time, and forgets it.
func (g *Limiter) RatesChanged() bool { return g.rates.takeChanged() }

// BeginTerm begins a term of leadership: all buckets are empty.
func (g *Limiter) BeginTerm(now time.Time) { g.rates.begin(now) }

// Take gives back the tokens that the permit has, and takes one of each rate that counts an eviction because of this
// taint on a node with these labels. If one has none, Take takes none and returns the wait.
func (g *Limiter) Take(now time.Time, t *Ticket, taintKey string, nodeLabels map[string]string) (wait guard.Wait) {
	g.rates.giveBack(t.tokens)
	t.tokens, wait = g.rates.take(now, taintKey, nodeLabels)
	return wait
}

// SetRates replaces the rates, which must be valid. A rate that keeps its name and its topologyKey keeps its level;
// others begin empty. Calls under way keep their tokens.
func (p *Pool) SetRates(list []policy.Rate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limiter.SetRates(time.Now(), list)
	p.publish()
}

// RatesChanged returns a channel that is closed when evictions that wait for a rate are to try again before their time:
// a token was given back, the end of a wait may be known by now, or the rates have changed. It must be taken
// before the try that may have to wait.
func (p *Pool) RatesChanged() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ratesChanged
}

// RateLevels returns how much of each rate is available now.
func (p *Pool) RateLevels() []guard.Level {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limiter.rates.buckets == nil {
		return nil
	}
	return p.limiter.rates.buckets.Levels(time.Now())
}
