package status

import (
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// remembered is how many evictions a history holds: some megabytes with their pods.
const remembered = 4096

// minutes is how many minutes the counts go back.
const minutes = 60

// PastEviction is an eviction that the API server has accepted, or that a dry run has logged.
type PastEviction struct {
	Pod     *taint.Pod
	Verdict taint.Verdict
	At      time.Time
	DryRun  bool
}

// Count counts the evictions of one minute: at least one. Late is the sum of their lateness.
type Count struct {
	Start   time.Time
	Evicted int
	Late    time.Duration
	MaxLate time.Duration
}

// Past has the latest evictions, and counts of those of the last hour.
type Past struct {
	// Latest are the latest evictions, oldest first, and Total is the number of all evictions so far.
	Latest []PastEviction
	Total  uint64

	// Minutes are the minutes of the last hour with evictions, oldest first.
	Minutes []Count
}

// LastHour returns the number of evictions in the last hour.
func (p *Past) LastHour() int {
	n := 0
	for _, c := range p.Minutes {
		n += c.Evicted
	}
	return n
}

// History records the latest evictions, within a bound. The zero value is an empty history. Its methods are safe for
// concurrent use, and never block for long.
type History struct {
	mu     sync.Mutex
	ring   []PastEviction // grows to its bound, then is written over
	total  uint64
	counts [minutes]Count
}

// Ended records a call that has ended at this time. Only evictions that were accepted, or logged by a dry run,
// count.
func (h *History) Ended(e eviction.Request, o eviction.Outcome, at time.Time) {
	if o.Kind != eviction.Accepted && o.Kind != eviction.DryRun {
		return
	}
	w := PastEviction{Pod: e.Pod, Verdict: e.Verdict, At: at, DryRun: o.Kind == eviction.DryRun}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ring) < remembered {
		h.ring = append(h.ring, w)
	} else {
		h.ring[h.total%remembered] = w
	}
	h.total++
	h.count(at, max(at.Sub(e.Verdict.At), 0))
}

func (h *History) count(at time.Time, late time.Duration) {
	start := at.Truncate(time.Minute)
	c := &h.counts[slot(start)]
	if !c.Start.Equal(start) {
		*c = Count{Start: start}
	}
	c.Evicted++
	c.Late += late
	c.MaxLate = max(c.MaxLate, late)
}

// slot returns the index at which a minute is counted.
func slot(start time.Time) int {
	n := start.Unix() / 60 % minutes
	return int((n + minutes) % minutes)
}

// Past returns the past at this time.
func (h *History) Past(now time.Time) Past {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := Past{Total: h.total, Minutes: h.hour(now)}
	for i := h.total - uint64(len(h.ring)); i < h.total; i++ {
		if w := h.ring[i%remembered]; now.Sub(w.At) < time.Hour {
			p.Latest = append(p.Latest, w)
		}
	}
	return p
}

// hour returns the counts of the last 60 minutes, including the present one.
func (h *History) hour(now time.Time) []Count {
	var list []Count
	last := now.Truncate(time.Minute)
	for i := minutes - 1; i >= 0; i-- {
		start := last.Add(-time.Duration(i) * time.Minute)
		if c := h.counts[slot(start)]; c.Evicted > 0 && c.Start.Equal(start) {
			list = append(list, c)
		}
	}
	return list
}
