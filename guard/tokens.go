package guard

import (
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Tokens are the tokens of a call, one of each rate that counts it. The owner calls exactly one of Keep and Return,
// once.
type Tokens struct {
	buckets []*bucket
}

// Wait describes the rate for which an eviction waits.
type Wait struct {
	// Rate is the name of the rate; empty if the eviction does not wait.
	Rate string

	// Group is the group of nodes.
	Group string

	// Until is when a token is available if no other call takes it; zero if only the end of a call can return one.
	Until time.Time

	// Buckets names the buckets of all rates that count the eviction. Of evictions with the same buckets, none can take
	// its tokens while one cannot. After a reload the same rate may count other evictions; then it has another name here.
	Buckets string
}

// Take takes a token of each rate that counts an eviction because of this taint on a node with these labels. If one
// of them has no token, Take takes none, and returns the longest wait.
func (r *Rates) Take(now time.Time, taintKey string, labels map[string]string) (Tokens, Wait) {
	var tokens Tokens
	var longest Wait
	for _, one := range r.rates {
		if !one.counts(taintKey) {
			continue
		}
		group := policy.GroupOf(one.topologyKey, labels)
		b := one.bucket(now, group)
		tokens.buckets = append(tokens.buckets, b)
		if wait, ends := b.wait(); wait > 0 || !ends {
			longest.orLonger(one.name, group, now.Add(wait), ends)
		}
	}
	if longest.Rate != "" {
		longest.Buckets = r.bucketsOf(taintKey, labels)
		return Tokens{}, longest
	}
	for _, b := range tokens.buckets {
		b.reserved++
	}
	return tokens, Wait{}
}

// bucketsOf names the buckets of the rates that count an eviction.
func (r *Rates) bucketsOf(taintKey string, labels map[string]string) string {
	var b strings.Builder
	for _, one := range r.rates {
		if one.counts(taintKey) {
			b.WriteString(one.id)
			b.WriteByte('/')
			b.WriteString(policy.GroupOf(one.topologyKey, labels))
			b.WriteByte(0) // is in no name and no label
		}
	}
	return b.String()
}

// orLonger replaces the wait if the other one is longer. A wait without a known end is the longest.
func (w *Wait) orLonger(rate, group string, until time.Time, ends bool) {
	switch {
	case w.Rate != "" && w.Until.IsZero():
	case !ends:
		*w = Wait{Rate: rate, Group: group}
	case w.Rate == "" || until.After(w.Until):
		*w = Wait{Rate: rate, Group: group, Until: until}
	}
}

// None reports whether there are no tokens, as no rate counts the call.
func (t Tokens) None() bool { return len(t.buckets) == 0 }

// Keep ends a call whose deletion was accepted, or may have been because its answer was lost.
func (t Tokens) Keep(now time.Time) {
	for _, b := range t.buckets {
		b.take(now)
	}
}

// Return ends a call that deleted nothing.
func (t Tokens) Return() {
	for _, b := range t.buckets {
		b.reserved--
	}
}
