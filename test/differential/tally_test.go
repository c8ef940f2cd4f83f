package differential

import (
	"fmt"
	"strings"
	"sync"
)

// tally counts results. It is safe for concurrent use.
type tally struct {
	mu        sync.Mutex
	histories int
	pods      int
	evictions int // by this controller
	untouched int // histories to which no correction applies
	agreed    int // evictions in those
	compared  int // pods that the original must treat alike
	raced     int // histories in which the original did so only when it played them again
	of        map[string]*counts
}

// counts are those of one correction, in histories.
type counts struct {
	applies int
	alone   int    // no other correction applies
	differs int    // alone, and the original behaved differently
	example uint64 // the least seed of those
}

func newTally() *tally {
	all := &tally{of: map[string]*counts{}}
	for _, c := range corrections() {
		all.of[c.name] = &counts{}
	}
	return all
}

func (a *tally) add(r *result) {
	names := map[string]bool{}
	for _, applied := range r.applied {
		names[applied.name] = true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.histories++
	if r.raced {
		a.raced++
	}
	a.evictions += len(r.ours)
	corrected := r.corrected()
	for _, p := range r.history.all() {
		a.pods++
		if !corrected[p.Name] {
			a.compared++
		}
	}
	if len(names) == 0 {
		a.untouched++
		a.agreed += len(r.ours)
	}
	for name := range names {
		a.of[name].add(r, len(names) == 1)
	}
}

func (c *counts) add(r *result, alone bool) {
	c.applies++
	if !alone {
		return
	}
	c.alone++
	if !r.differs() {
		return
	}
	c.differs++
	if c.example == 0 || r.seed < c.example {
		c.example = r.seed
	}
}

// String returns the tally as Markdown tables.
func (a *tally) String() string {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	for _, row := range []struct {
		what string
		n    int
	}{
		{"histories", a.histories},
		{"pods", a.pods},
		{"evicted by this controller", a.evictions},
		{"pods that the original treated alike, as it must", a.compared},
		{"histories to which no correction applies", a.untouched},
		{"evicted in those, at the same moments by both", a.agreed},
	} {
		fmt.Fprintf(&b, "| %s | %d |\n", row.what, row.n)
	}
	b.WriteByte('\n')
	b.WriteString("| correction | applies | alone | and the original differs | for instance, seed |\n|---|---|---|---|---|\n")
	for _, c := range corrections() {
		n := a.of[c.name]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", c.name, n.applies, n.alone, n.differs, n.example)
	}
	return b.String()
}
