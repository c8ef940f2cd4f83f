package dispatch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/internal/ordered"
)

// tokenSet holds the queues of all candidates that need the same tokens.
type tokenSet struct {
	key       string
	buckets   []Buckets             // of each request
	rated     bool                  // each request needs tokens, or maxEvictionsPerSecond is set
	queues    ordered.Queue[*queue] // by their turns
	waitUntil time.Time             // when its latest wait for tokens ends or ended
	waitRate  string                // the rate of that wait
	waitPos   int                   // in Core.waitingForTokens
}

func newTokenSet(key string, buckets []Buckets) *tokenSet {
	set := &tokenSet{key: key, buckets: buckets}
	set.rated = !slices.ContainsFunc(buckets, func(b Buckets) bool { return b.Key == "" })
	before := func(a, b *queue) bool { return a.turn.before(&b.turn) }
	set.queues = ordered.New(before, func(q *queue) *int { return &q.pos })
	return set
}

// newWaitingForTokens returns a queue of token sets, ordered by the ends of their waits.
func newWaitingForTokens() ordered.Queue[*tokenSet] {
	before := func(a, b *tokenSet) bool {
		return cmp.Or(a.waitUntil.Compare(b.waitUntil), cmp.Compare(a.key, b.key)) < 0
	}
	return ordered.New(before, func(set *tokenSet) *int { return &set.waitPos })
}

// bucketsOf returns the buckets from which each request for the candidate takes tokens, and the key of its token set.
func (c *Core) bucketsOf(candidate *Candidate) (all []Buckets, key string) {
	all = make([]Buckets, len(candidate.Requests))
	var keys strings.Builder
	for i := range all {
		if t := candidate.Requests[i].Verdict.Taint; t != nil {
			all[i] = c.rates.BucketsOf(t.Key, candidate.NodeLabels)
		}
		keys.WriteString(all[i].Key + "\x01")
	}
	return all, keys.String()
}

// tokenSetOf returns the token set of a candidate, or a new one.
func (c *Core) tokenSetOf(candidate *Candidate) *tokenSet {
	buckets, key := c.bucketsOf(candidate)
	set := c.tokenSets[key]
	if set == nil {
		set = newTokenSet(key, buckets)
		set.rated = set.rated || c.pace.interval > 0
		c.tokenSets[key], c.ready[set] = set, true
	}
	return set
}

// dropTokenSet drops a token set that has no queue left.
func (c *Core) dropTokenSet(set *tokenSet) {
	if set.queues.Len() == 0 {
		delete(c.tokenSets, set.key)
		delete(c.ready, set)
		c.waitingForTokens.Remove(set)
	}
}

// firstWithTokens returns the index of the first request whose rates all have a token now. If there is none, it returns
// the rate and the end of the shortest wait.
func (t *tokenSet) firstWithTokens(now time.Time) (request int, rate string, until time.Time) {
	for i := range t.buckets {
		name, at := t.buckets[i].Wait(now)
		if name == "" {
			return i, "", time.Time{}
		}
		if rate == "" || at.Before(until) {
			rate, until = name, at
		}
	}
	return 0, rate, until
}

// waitForTokens makes the token set wait until then for a token of this rate.
func (c *Core) waitForTokens(set *tokenSet, rate string, until time.Time) {
	set.waitRate, set.waitUntil = rate, until
	delete(c.ready, set)
	c.waitingForTokens.Set(set)
}

// refill makes ready each token set whose wait for tokens has ended.
func (c *Core) refill(now time.Time) {
	for set, ok := c.waitingForTokens.First(); ok && !set.waitUntil.After(now); set, ok = c.waitingForTokens.First() {
		c.waitingForTokens.Remove(set)
		c.ready[set] = true
	}
}
