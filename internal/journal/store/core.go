package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/skew"
)

const (
	beginTimeout  = 10 * time.Second       // how long a term waits for the journal, and for the nodes in its records
	writeInterval = time.Second            // the shortest time between two writes of an object
	settle        = 250 * time.Millisecond // between a change and its write
	budget        = 2 << 20                // how many bytes of all partitions together are written in a second
	beatEvery     = 20 * time.Second       // between two writes of the state although nothing has changed
	longestRetry  = 10 * time.Second       // between two attempts to read or to write an object
	pollInterval  = 50 * time.Millisecond  // between two checks of how far the nodes were read, and of who leads
)

// Source has the nodes.
type Source interface {
	// Records returns the records of the tainted nodes of a partition, by name.
	Records(partition int) map[string]journal.Record
	// ApplyRecord takes the starts of a node's taints from a record; see [journal.NodeHistory.ApplyRecord].
	ApplyRecord(node string, r journal.Record, last journal.LastWatch)
}

// CoreOptions are the parameters of a [Core]. Source and Leading are required.
type CoreOptions struct {
	Source   Source      // has the nodes to record; Step calls it
	Leading  func() bool // is called right before each write; if it returns false, nothing is written
	Ahead    skew.Ahead  // by how much this process's clock is ahead of the API server's; nil: they agree
	Identity string      // of this process, for readers
	Config   []byte      // with which the process starts, as [journal.Config.Encode] returns it
	ReadOnly bool        // nothing is written
}

// phase is the progress of a term.
type phase int

const (
	standby   phase = iota
	reading         // the objects are being read, and the nodes up to the versions of their records
	beginning       // the records were applied, and the configuration is being written
	leading
)

// Core decides when the journal is read and written. It is not safe for concurrent use.
//
// Invariants: an object is written only after it was read in the term; the answer to a call of an earlier term changes
// no object; phase == leading after TermBegan was answered, until the term ends.
type Core struct {
	options CoreOptions
	objects []*object
	last    journal.LastWatch // on the monotonic clock

	term     int // counts the changes of leadership
	phase    phase
	deadline time.Time     // when the term begins, whatever is still unread; zero before Synced
	began    chan struct{} // waits for the term to begin

	guards     json.RawMessage
	config     []byte
	beat       time.Time       // when the state is written although nothing has changed; zero before its first write
	listed     int             // how many partitions the stored state lists as unstored; once fewer are, it is written
	publishing []chan struct{} // wait for the state
	flushes    []chan struct{} // wait for all objects

	now     time.Time // of the step in progress
	effects *Effects
}

// NewCore returns the logic of a journal of a process that does not lead.
func NewCore(o CoreOptions) *Core {
	c := &Core{options: o, config: o.Config}
	for number := range journal.StateObject + 1 {
		c.objects = append(c.objects, &object{
			Core: c, number: number, name: fmt.Sprint("object ", number), problems: map[Kind]bool{},
		})
	}
	return c
}

// Step processes one input at the time now, which carries the monotonic clock, and returns its effects.
func (c *Core) Step(now time.Time, in Input) (effects Effects) {
	c.now, c.effects = now, &effects
	in.apply(c)
	c.applyRead()
	if _, ends := in.(Watched); ends { // the inputs before it wait: writes contain it
		for _, o := range c.objects[:journal.StateObject] {
			o.callIfDue()
		}
		if len(c.unstored()) < c.listed || !c.beat.IsZero() && !c.now.Before(c.beat) {
			c.state().dirty = true
		}
		c.state().callIfDue()
		c.answer()
	}
	c.effects.Next = c.next()
	return effects
}

func (c *Core) changeTerm(p phase) {
	c.term, c.phase, c.beat = c.term+1, p, time.Time{}
	for _, o := range c.objects {
		o.reset()
	}
}

// applyRead applies what was read, once the nodes are known up to the newest record, or beginTimeout after Synced. What
// is read later is applied on arrival.
func (c *Core) applyRead() {
	waits := slices.ContainsFunc(c.objects, func(o *object) bool {
		return !o.opened && !o.useless || journal.IsNewer(o.newest, c.last.Reached)
	})
	if c.phase == standby || c.phase == reading && (c.deadline.IsZero() || waits && c.now.Before(c.deadline)) {
		return
	}
	for _, o := range c.objects {
		if o.opened && !o.applied {
			o.applyRead()
		}
	}
	if c.phase == reading {
		c.phase = beginning
		if c.effects.Guards == nil {
			c.effects.Guards = &Guards{}
		}
	}
}

func (c *Core) state() *object { return c.objects[journal.StateObject] }

// answer answers the inputs that wait for writes. The term begins once the state, with the configuration, is written or
// cannot be written, and at c.deadline at the latest.
func (c *Core) answer() {
	if c.phase == beginning && (!c.state().isWriting() || !c.now.Before(c.deadline)) {
		c.phase, c.effects.Done = leading, append(c.effects.Done, c.began)
	}
	if !c.state().isWriting() {
		c.effects.Done, c.publishing = append(c.effects.Done, c.publishing...), nil
	}
	if !slices.ContainsFunc(c.objects, (*object).isWriting) {
		c.effects.Done, c.flushes = append(c.effects.Done, c.flushes...), nil
	}
}

// next returns when the next step is due.
func (c *Core) next() (next time.Time) {
	soon := func(at time.Time) {
		if least := c.now.Add(time.Millisecond); at.Before(least) {
			at = least
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if c.phase == reading {
		soon(c.now.Add(pollInterval))
	}
	if c.phase == beginning {
		soon(c.deadline)
	}
	if !c.beat.IsZero() && !c.state().dirty {
		soon(c.beat)
	}
	for _, o := range c.objects {
		if o.isDue() {
			soon(o.next)
		}
	}
	return next
}

// heartbeat returns the heartbeat of this moment, as a partition has it.
func (c *Core) heartbeat() journal.Heartbeat {
	now := c.options.Ahead.At(c.now)
	h := journal.Heartbeat{Written: now.Late(c.now), LastWatch: c.last}
	if !h.Watched.IsZero() {
		h.Watched = now.Early(h.Watched)
	}
	return h
}

// unstored returns the partitions whose latest records are not stored.
func (c *Core) unstored() (numbers []int) {
	for _, o := range c.objects {
		if !o.isState() && (o.dirty || o.busy || !o.opened) {
			numbers = append(numbers, o.number)
		}
	}
	return numbers
}
