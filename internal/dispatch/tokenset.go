package dispatch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/ordered"
)

// class holds the lines of the candidates that need the same tokens.
type class struct {
	key      string
	ways     []Buckets
	rated    bool                 // each way has buckets
	idle     ordered.Queue[*line] // of namespaces without calls
	busy     map[*line]bool       // of namespaces with calls
	dryUntil time.Time            // when its last wait for tokens ends, or has ended
	dryRate  string               // the rate of that wait
	dryPos   int                  // in Core.dry
	size     int                  // candidates, also own pods that do not stand in a line yet
}

func newClass(key string, ways []Buckets) *class {
	cl := &class{key: key, ways: ways, busy: map[*line]bool{}}
	cl.rated = !slices.ContainsFunc(ways, func(b Buckets) bool { return b.Key == "" })
	cl.idle = ordered.New(func(a, b *line) bool { return a.rank < b.rank }, func(l *line) *int { return &l.pos })
	return cl
}

// newDry returns a queue of classes by when their waits for tokens end.
func newDry() ordered.Queue[*class] {
	before := func(a, b *class) bool { return cmp.Or(a.dryUntil.Compare(b.dryUntil), cmp.Compare(a.key, b.key)) < 0 }
	return ordered.New(before, func(cl *class) *int { return &cl.dryPos })
}

// classOf returns the class of a candidate, a new one if there is none.
func (c *Core) classOf(candidate *Candidate) *class {
	ways := make([]Buckets, len(candidate.Ways))
	var key strings.Builder
	for i := range ways {
		ways[i] = c.bucketsOf(candidate, &candidate.Ways[i])
		key.WriteString(ways[i].Key + "\x01")
	}
	cl := c.classes[key.String()]
	if cl == nil {
		cl = newClass(key.String(), ways)
		c.classes[cl.key], c.ready[cl] = cl, true
	}
	return cl
}

// bucketsOf returns the buckets of the rates that count a request for the candidate.
func (c *Core) bucketsOf(candidate *Candidate, r *eviction.Request) Buckets {
	if t := r.Verdict.Taint; t != nil {
		return c.rates.BucketsOf(t.Key, candidate.NodeLabels)
	}
	return Buckets{}
}

// enter adds a candidate: to its line, or to the own pods.
func (c *Core) enter(it *item) {
	it.class.size++
	if it.Own != Other {
		c.own.wait(it)
		return
	}
	c.stand(it)
}

// leave removes a candidate that does not go now, and its class with the last candidate.
func (c *Core) leave(it *item) {
	if it.line == nil {
		c.own.waiting.Remove(it)
	} else {
		c.stepOut(it)
	}
	cl := it.class
	if cl.size--; cl.size == 0 {
		delete(c.classes, cl.key)
		delete(c.ready, cl)
		c.dry.Remove(cl)
	}
}

// way returns the first way whose rates all have a token now. If there is none, one way can be sent before the others,
// and waits for a token of this rate until then.
func (cl *class) way(now time.Time) (way int, rate string, until time.Time) {
	for i := range cl.ways {
		name, at := cl.ways[i].Wait(now)
		if name == "" {
			return i, "", time.Time{}
		}
		if rate == "" || at.Before(until) {
			rate, until = name, at
		}
	}
	return 0, rate, until
}

// runDry notes that no way of the class has its tokens until then, because of this rate.
func (c *Core) runDry(cl *class, rate string, until time.Time) {
	cl.dryRate, cl.dryUntil = rate, until
	delete(c.ready, cl)
	c.dry.Set(cl)
}

// refill makes the classes ready whose wait for tokens has ended.
func (c *Core) refill(now time.Time) {
	for cl, ok := c.dry.First(); ok && !cl.dryUntil.After(now); cl, ok = c.dry.First() {
		c.dry.Remove(cl)
		c.ready[cl] = true
	}
}
