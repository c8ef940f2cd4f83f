package store

import (
	"encoding/json"
	"time"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// Input is an event for a [Core].
type Input interface{ apply(c *Core) }

// Watched reports the last delivery of the node watch, on the monotonic clock. It follows each batch of other inputs,
// and comes alone at the time of Effects.Next; calls start, and Done is answered, at no other input. The [NodesChanged]
// of all changes up to the delivery precede it, so the state lists as unstored each partition that lacks one of these.
type Watched struct{ Last journal.LastWatch }

func (in Watched) apply(c *Core) { c.last = in.Last }

// NodesChanged reports that records of nodes of this partition have changed.
type NodesChanged struct{ Partition int }

// apply puts the write off for a moment: the evictions that the change causes go first.
func (in NodesChanged) apply(c *Core) {
	if o := c.objects[in.Partition]; !o.dirty {
		o.dirty = true
		o.notBefore(settle)
	}
}

// TermBegan begins a term of leadership: the journal is read. Effects.Done answers it once the first eviction call is
// allowed, after [Synced], unless the term ends before.
type TermBegan struct{ Done chan struct{} }

func (in TermBegan) apply(c *Core) {
	c.changeTerm(reading)
	c.deadline, c.began = time.Time{}, in.Done
}

// Synced follows a TermBegan, once the source has all nodes: what was read is applied.
type Synced struct{}

func (Synced) apply(c *Core) { c.deadline = c.now.Add(beginTimeout) }

// TermEnded ends the term that began with the same Done, if no other term has begun.
type TermEnded struct{ Done chan struct{} }

func (in TermEnded) apply(c *Core) {
	if in.Done == c.began {
		c.changeTerm(standby)
	}
}

// Answered answers a call: a read with the content, a write with its new version, or either with an error.
type Answered struct {
	Call
	Content journal.StoredPartition
	Err     error
}

func (in Answered) apply(c *Core) {
	if in.Term == c.term {
		c.objects[in.Number].answered(in)
	}
}

// GuardsSet sets the record of guards and holds that this process writes while it leads.
type GuardsSet struct{ Text json.RawMessage }

func (in GuardsSet) apply(c *Core) { c.guards, c.state().dirty = in.Text, true }

// ConfigSet sets the configuration that this process writes while it leads. Effects.Done answers it once the
// configuration is written, or an attempt has failed, or if this process does not write.
type ConfigSet struct {
	Text []byte
	Done chan struct{}
}

func (in ConfigSet) apply(c *Core) {
	c.config, c.state().dirty = in.Text, true
	c.publishing = append(c.publishing, in.Done)
	c.state().tryNow()
}

// Flush asks for all changes to be written. Effects.Done answers it once all are written, or once another attempt has
// failed.
type Flush struct{ Done chan struct{} }

func (in Flush) apply(c *Core) {
	c.flushes = append(c.flushes, in.Done)
	for _, o := range c.objects {
		o.tryNow()
	}
}

// Effects are the results of a step.
type Effects struct {
	Calls    []Call          // to make; an object has at most one at a time
	Guards   *Guards         // the record of guards and holds that was read; nil if none was read in this step
	Troubles []Trouble       // the problems that have begun or are over
	Done     []chan struct{} // of inputs that are answered
	Next     time.Time       // when the next step is due if nothing else happens before; zero if none is due
}

// Guards is the record of guards and holds as it is stored.
type Guards struct {
	Text json.RawMessage // empty if nobody has stored one
	Read bool            // false: it could not be read so far
}

// Call is a read or a write of an object during a term. Number is that of a partition, or [journal.StateObject].
type Call struct {
	Term, Number int
	Write        *journal.StoredPartition // the content to write; nil: the object is read
}
