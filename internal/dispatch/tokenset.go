package dispatch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/ordered"
)

// tokenSet holds the queues of all candidates that need the same tokens.
type tokenSet struct {
	key       string
	buckets   []Buckets             // of each request
	rated     bool                  // each request needs tokens
	idle      ordered.Queue[*queue] // of namespaces without calls
	busy      map[*queue]bool       // of namespaces with calls
	waitUntil time.Time             // when its last wait for tokens ends, or has ended
	waitRate  string                // the rate of that wait
	waitPos   int                   // in Core.waitingForTokens
	size      int                   // number of candidates, with own pods that are in no queue yet
}

func newTokenSet(key string, buckets []Buckets) *tokenSet {
	set := &tokenSet{key: key, buckets: buckets, busy: map[*queue]bool{}}
	set.rated = !slices.ContainsFunc(buckets, func(b Buckets) bool { return b.Key == "" })
	set.idle = ordered.New(func(a, b *queue) bool { return a.rank < b.rank }, func(q *queue) *int { return &q.pos })
	return set
}

// newWaitingForTokens returns a queue of token sets, ordered by the ends of their waits.
func newWaitingForTokens() ordered.Queue[*tokenSet] {
	before := func(a, b *tokenSet) bool {
		return cmp.Or(a.waitUntil.Compare(b.waitUntil), cmp.Compare(a.key, b.key)) < 0
	}
	return ordered.New(before, func(set *tokenSet) *int { return &set.waitPos })
}

// tokenSetOf returns the token set of a candidate, or a new one.
func (c *Core) tokenSetOf(candidate *Candidate) *tokenSet {
	buckets := make([]Buckets, len(candidate.Requests))
	var key strings.Builder
	for i := range buckets {
		buckets[i] = c.bucketsOf(candidate, &candidate.Requests[i])
		key.WriteString(buckets[i].Key + "\x01")
	}
	set := c.tokenSets[key.String()]
	if set == nil {
		set = newTokenSet(key.String(), buckets)
		c.tokenSets[set.key], c.ready[set] = set, true
	}
	return set
}

// bucketsOf returns the buckets of the rates that count a request for the candidate.
func (c *Core) bucketsOf(candidate *Candidate, r *eviction.Request) Buckets {
	if t := r.Verdict.Taint; t != nil {
		return c.rates.BucketsOf(t.Key, candidate.NodeLabels)
	}
	return Buckets{}
}

// add adds a candidate: to its queue, or to the own pods.
func (c *Core) add(e *entry) {
	e.tokenSet.size++
	if e.Own != Other {
		c.own.wait(e)
		return
	}
	c.enqueue(e)
}

// remove removes a candidate, whether or not its call starts now, and its token set once empty.
func (c *Core) remove(e *entry) {
	if e.queue == nil {
		c.own.waiting.Remove(e)
	} else {
		c.dequeue(e)
	}
	set := e.tokenSet
	if set.size--; set.size == 0 {
		delete(c.tokenSets, set.key)
		delete(c.ready, set)
		c.waitingForTokens.Remove(set)
	}
}

// firstWithTokens returns the index of the first request whose rates all have a token now. If there is none, it returns
// the rate with the earliest next token, and when that comes.
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

// refill makes the token sets ready whose wait for tokens has ended.
func (c *Core) refill(now time.Time) {
	for set, ok := c.waitingForTokens.First(); ok && !set.waitUntil.After(now); set, ok = c.waitingForTokens.First() {
		c.waitingForTokens.Remove(set)
		c.ready[set] = true
	}
}
