package dispatch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/ordered"
)

// class holds the lines of the candidates that wait for the same rates.
type class struct {
	key      string
	ways     []breaker.Buckets
	rated    bool                        // each way has buckets
	size     int                         // candidates
	doors    [doors]ordered.Queue[*line] // the lines that may use each door
	dryUntil time.Time                   // when its last wait for tokens ends, or has ended
	dryRate  string                      // the rate of that wait
	dryPos   int                         // in Core.dry
}

// door leads to a kind of place. Rules open and close it for lines.
type door uint8

const (
	toSlot       door = iota // of a namespace that is not slow
	toSlotOfSlow             // of a slow namespace
	toSlowPlace              // of a slow namespace
	doors
)

// place returns the kind of place behind the door.
func (d door) place() kind {
	if d == toSlowPlace {
		return slowPlace
	}
	return slot
}

func newClass(key string, ways []breaker.Buckets) *class {
	cl := &class{key: key, ways: ways}
	cl.rated = !slices.ContainsFunc(ways, func(b breaker.Buckets) bool { return b.Key == "" })
	for d := range doors {
		before := func(a, b *line) bool { return choice{a, d}.before(choice{b, d}) }
		cl.doors[d] = ordered.New(before, func(l *line) *int { return &l.pos[d] })
	}
	return cl
}

// newDry returns a queue of classes by when their waits for tokens end.
func newDry() ordered.Queue[*class] {
	before := func(a, b *class) bool { return cmp.Or(a.dryUntil.Compare(b.dryUntil), cmp.Compare(a.key, b.key)) < 0 }
	return ordered.New(before, func(cl *class) *int { return &cl.dryPos })
}

// classOf returns the class of a candidate, a new one if there is none.
func (c *Core) classOf(candidate *Candidate) *class {
	ways := make([]breaker.Buckets, len(candidate.Ways))
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
func (c *Core) bucketsOf(candidate *Candidate, r *eviction.Request) breaker.Buckets {
	if t := r.Verdict.Taint; t != nil {
		return c.rates.BucketsOf(t.Key, candidate.NodeLabels)
	}
	return breaker.Buckets{}
}

// drop counts a candidate out of its class.
func (c *Core) drop(cl *class) {
	c.waiting--
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
