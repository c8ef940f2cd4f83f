package guard

import (
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Tokens are what a call has taken, one of each rate that counts it. Its owner calls exactly one of Keep and Return, once.
type Tokens struct {
	buckets []*bucket
}

// Wait says which rate an eviction waits for.
type Wait struct {
	// Rate is its name; empty if there is nothing to wait for.
	Rate string

	// Group is the group of nodes.
	Group string

	// Until is when there is a token if no other call takes it; zero if only the end of a call can give one back.
	Until time.Time
}

// Take takes a token of each rate that counts an eviction because of this taint on a node with these labels: of all of
// them, or of none, and says then which rate makes it wait the longest.
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
		return Tokens{}, longest
	}
	for _, b := range tokens.buckets {
		b.reserved++
	}
	return tokens, Wait{}
}

// orLonger makes this the wait if it is longer. One without a known end is the longest.
func (w *Wait) orLonger(rate, group string, until time.Time, ends bool) {
	switch {
	case w.Rate != "" && w.Until.IsZero():
	case !ends:
		*w = Wait{Rate: rate, Group: group}
	case w.Rate == "" || until.After(w.Until):
		*w = Wait{rate, group, until}
	}
}

// Keep is for a call whose deletion was accepted, or may have been: its answer is lost.
func (t Tokens) Keep(now time.Time) {
	for _, b := range t.buckets {
		b.take(now)
	}
}

// Return is for a call by which nothing went.
func (t Tokens) Return() {
	for _, b := range t.buckets {
		b.reserved--
	}
}
