package store

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

const (
	// loadTimeout is how long the first decision waits for partitions that do not answer.
	loadTimeout = 10 * time.Second

	// writeInterval is the shortest time between two writes of a partition.
	writeInterval = time.Second

	// throughput is how many bytes of a large partition are written in a second.
	throughput = 256 << 10

	// stampEvery is how often a partition that has records is written although nothing has changed. The age of a
	// partition then shows whether its writer could still write it.
	stampEvery = 20 * time.Second

	// staleAfter is how much older than the last proof of a leader a partition may be.
	staleAfter = 3 * stampEvery

	// longestRetry is the longest time between two attempts to write a partition.
	longestRetry = 30 * time.Second

	// pollInterval is the time between two checks whether this process leads, and how far the nodes have been read.
	pollInterval = time.Second

	// unreachedAfter is how long a record waits until the nodes have been read up to its version.
	unreachedAfter = time.Minute
)

// Source has the nodes.
type Source interface {
	// Tainted returns the nodes that carry NoExecute taints, or NoSchedule taints that policies make triggers.
	Tainted() []*taint.Node

	// Adopt merges a record into the history of a node, and reports whether the history changed; see
	// [journal.NodeHistory.Adopt].
	Adopt(node string, record journal.Record) bool

	// Reached returns the resourceVersion up to which all changes of nodes are known; "" if that is not known.
	Reached() string
}

// CoreOptions are the parameters of a [Core]. Source, Leading and Ahead are required.
type CoreOptions struct {
	// Source has the nodes to record. Step calls it.
	Source Source

	// Leading is called right before each write; if it returns false, nothing is written.
	Leading func() bool

	// Ahead returns by how much this process's wall clock is ahead of the API server's, as for
	// [journal.Observation].Ahead.
	Ahead func(now time.Time) time.Duration

	// ReadOnly keeps the core from writing.
	ReadOnly bool

	// LastLed is the last time at which another process is known to have led. A partition that had not been written for
	// long by then could not be written, and is not believed. Zero means unknown.
	LastLed time.Time

	// None means that there are no partitions.
	None bool
}

// Core decides when the journal is read, adopted and written. It is not safe for concurrent use.
type Core struct {
	options    CoreOptions
	partitions []*partition
	guards     guards
	term       int // the present term; 0 if this process does not lead

	synced, loaded bool
	loadDeadline   time.Time // when decisions begin without the partitions that were not read
	flushes        []chan struct{}

	now     time.Time // of the step under way
	effects *Effects
}

// NewCore returns the logic of a journal that was not read yet.
func NewCore(o CoreOptions) *Core {
	c := &Core{options: o}
	for number := range journal.Partitions {
		if !o.None {
			c.partitions = append(c.partitions, newPartition(c, number))
		}
	}
	return c
}

// Step processes one input at the time now, which carries the monotonic clock, and returns what follows from it.
func (c *Core) Step(now time.Time, in Input) Effects {
	var effects Effects
	c.now, c.effects = now, &effects
	c.apply(in)
	for _, p := range c.partitions {
		p.work()
	}
	c.load()
	c.flushed()
	c.effects.Next = c.next()
	return effects
}

func (c *Core) apply(in Input) {
	switch in := in.(type) {
	case Synced:
		c.synced, c.loadDeadline = true, c.now.Add(loadTimeout)
	case TermBegan:
		c.changeTerm(in.Term)
	case TermEnded:
		if in.Term == c.term {
			c.changeTerm(0)
		}
	case GuardsSet:
		c.guards.record = &in.Record
		c.change(journal.GuardsPartition)
	case NodesChanged:
		c.change(in.Partition)
	case NodesListed:
		for _, p := range c.partitions {
			p.offerAgain()
		}
	case Heard:
		c.partitions[in.Partition].hear(in)
	case Written:
		c.partitions[in.Partition].answered(in)
	case Flush:
		c.flushes = append(c.flushes, in.Done)
		for _, p := range c.partitions {
			p.retry = time.Time{} // a flush waits for the partition
		}
	}
}

// change notes that a partition may have to be written.
func (c *Core) change(partition int) {
	if len(c.partitions) > 0 {
		c.partitions[partition].dirty = true
	}
}

// changeTerm begins a term, or ends the present one if the number is 0.
func (c *Core) changeTerm(term int) {
	c.term = term
	c.guards.lead(c.now, term != 0)
	for _, p := range c.partitions {
		p.standBy()
	}
}

// writes reports whether this process may write.
func (c *Core) writes() bool { return c.term != 0 && !c.options.ReadOnly }

// load decides when decisions may begin: once each partition was read or found to be forbidden, or after a while.
func (c *Core) load() {
	if c.loaded || !c.synced {
		return
	}
	for _, p := range c.partitions {
		if !p.known && c.now.Before(c.loadDeadline) {
			return
		}
	}
	c.loaded, c.effects.Loaded = true, true
	for _, p := range c.partitions {
		p.reportMissing()
	}
}

// flushed answers the flushes once no partition has anything to write.
func (c *Core) flushed() {
	if !slices.ContainsFunc(c.partitions, (*partition).isWriting) {
		c.effects.Flushed, c.flushes = c.flushes, nil
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
	if c.synced && !c.loaded {
		soon(c.loadDeadline)
	}
	for _, p := range c.partitions {
		if at, due := p.due(); due {
			soon(at)
		}
		if len(p.waiting) > 0 {
			soon(c.now.Add(pollInterval))
		}
	}
	return next
}

// Records returns the number of nodes that the partitions record.
func (c *Core) Records() (n int) {
	for _, p := range c.partitions {
		n += p.records
	}
	return n
}

// Guards returns the record of guards and holds at the time now; see [Keeper.Guards].
func (c *Core) Guards(now time.Time) (r breaker.Record, known bool) { return c.guards.at(now) }
