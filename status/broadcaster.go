package status

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

const (
	maxViewers  = 32               // streams at once
	maxWaiting  = 32               // messages that a viewer may be behind before it is dropped
	maxKept     = 120              // messages that can be resumed from
	tick        = time.Second      // between two looks, at least
	slowestTick = 10 * time.Second // at most, however long a look takes
	share       = 50               // looks may take one part in so many of the time
	beat        = 5 * time.Second  // without news after which a viewer is told that there are none
	linger      = 30 * time.Second // for which a viewer that comes back can resume
)

var errEnded = errors.New("the page has ended by an error of its own, which is in the log; evictions go on; restart taint-manager to have the page again")

var errFull = errors.New("32 viewers watch already; close one, or ask for /api/v1/snapshot instead")

// message is one event of a stream. Either it is written out, or it is a picture from which each
// viewer writes its own snapshot.
type message struct {
	id     string
	change []byte
	sample *sample
}

// viewer is one that watches. Its channel is closed when it is dropped.
type viewer struct {
	messages chan message
	resume   string // the id of the last message that it has
	in       bool   // it has had its first message
}

// broadcaster takes pictures while there are viewers, and tells each what has changed. Nothing runs while
// there are none.
type broadcaster struct {
	sampler *sampler
	boot    string // tells the ids of this process from those of another

	mu      sync.Mutex
	viewers map[*viewer]bool
	stop    context.CancelFunc // ends the run; nil while nothing runs
	wake    chan struct{}      // a viewer has come or gone
	ended   bool               // a run has panicked
	leaving *time.Timer        // forgets the last picture; nil while there is none

	seq     uint64
	current *sample
	spoke   time.Time // of the last message
	kept    []message // the latest changes, oldest first
}

func newBroadcaster(b *sampler) *broadcaster {
	return &broadcaster{sampler: b, boot: rand.Text()[:8], viewers: map[*viewer]bool{}, wake: make(chan struct{}, 1)}
}

// join adds a viewer, which has had messages up to the one of the id last; empty when it has none. It
// starts the looks when it is the first; those outlive its context.
func (h *broadcaster) join(ctx context.Context, last string) (*viewer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return nil, errEnded
	}
	if len(h.viewers) >= maxViewers {
		return nil, errFull
	}
	v := &viewer{messages: make(chan message, maxWaiting), resume: last}
	h.viewers[v] = true
	if h.leaving != nil {
		h.leaving.Stop()
		h.leaving = nil
	}
	if h.stop == nil {
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		h.stop = cancel
		go h.run(ctx)
	}
	h.changed()
	return v, nil
}

// changed makes the run look at its viewers again. It does not block.
func (h *broadcaster) changed() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// leave removes a viewer. It may be called again.
func (h *broadcaster) leave(v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(v)
}

// drop ends all looks with the last viewer.
func (h *broadcaster) drop(v *viewer) {
	if !h.viewers[v] {
		return
	}
	delete(h.viewers, v)
	close(v.messages)
	if len(h.viewers) > 0 {
		return
	}
	h.stop()
	h.stop = nil
	h.leaving = time.AfterFunc(linger, h.forget)
}

// hasEnded reports whether a run has panicked. The page is not to be had any more then.
func (h *broadcaster) hasEnded() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

// end sends all viewers away, and lets none in any more.
func (h *broadcaster) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for v := range h.viewers {
		h.drop(v)
	}
}

// run looks until its context ends. A panic ends the page, and not the process, which evicts.
func (h *broadcaster) run(ctx context.Context) {
	defer func() {
		if r := recover(); r != nil {
			klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", r), "The page has ended, evictions go on", "stack", string(debug.Stack()))
			h.end()
		}
	}()
	next := time.NewTimer(0)
	defer next.Stop()
	looked := false
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			began := time.Now()
			looked = h.turn(ctx) || looked
			next.Reset(pause(time.Since(began)))
		case <-h.wake:
			if looked { // else what is kept may be of long ago
				h.greet()
			}
		}
	}
}

// pause is the time to the next look when one took so long.
func pause(took time.Duration) time.Duration { return min(max(tick, share*took), slowestTick) }

// forget drops what is kept for viewers that come back.
func (h *broadcaster) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop == nil {
		h.current, h.kept = nil, nil
		h.seq++ // nobody can go on from the last id
	}
}

// turn looks once and tells all viewers; false when it could not.
func (h *broadcaster) turn(ctx context.Context) bool {
	h.mu.Lock()
	before := h.current
	h.mu.Unlock()
	var seen uint64
	if before != nil {
		seen = before.facts.Past.Total
	}
	facts, err := h.sampler.look(ctx, seen)
	if err != nil {
		return false // a stream that says nothing is stale, and its viewers say so
	}
	now := newSample(facts)
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return false // the last viewer has left meanwhile, and the next run may be under way
	}
	h.current = now
	if before != nil {
		h.tell(before, now)
	}
	h.welcome()
	return true
}

// tell sends what has changed, or that nothing has when nothing was sent for a while.
func (h *broadcaster) tell(before, now *sample) {
	c, changed := diff(before, now)
	if !changed && now.facts.At.Sub(h.spoke) < beat {
		return
	}
	text, err := json.Marshal(c)
	if err != nil {
		return // there is no value in it that can't be written
	}
	if changed {
		h.seq++
	}
	m := message{id: h.id(), change: text}
	h.spoke = now.facts.At
	if changed {
		h.keep(m)
	}
	for v := range h.viewers {
		if v.in {
			h.send(v, m)
		}
	}
}

func (h *broadcaster) id() string { return fmt.Sprintf("%s-%d", h.boot, h.seq) }

func (h *broadcaster) keep(m message) {
	if len(h.kept) == maxKept {
		h.kept = append(h.kept[:0], h.kept[1:]...)
	}
	h.kept = append(h.kept, m)
}

// greet gives those who have come what there is, if there is anything.
func (h *broadcaster) greet() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current != nil {
		h.welcome()
	}
}

// welcome gives each new viewer the messages that it has missed, or all there is.
func (h *broadcaster) welcome() {
	for v := range h.viewers {
		if v.in {
			continue
		}
		v.in = true
		missed, known := h.after(v.resume)
		if !known {
			missed = []message{{id: h.id(), sample: h.current}}
		}
		if len(missed) == 0 {
			h.spoke = time.Time{} // so that it hears soon that it has all
		}
		for _, m := range missed {
			h.send(v, m)
		}
	}
}

// after returns the messages after the one of this id, and whether all of them are known.
func (h *broadcaster) after(id string) ([]message, bool) {
	number, own := strings.CutPrefix(id, h.boot+"-")
	seq, err := strconv.ParseUint(number, 10, 64)
	if !own || err != nil || seq > h.seq || h.seq-seq > uint64(min(len(h.kept), maxWaiting)) {
		return nil, false
	}
	return h.kept[len(h.kept)-int(h.seq-seq):], true
}

// send drops a viewer that is too far behind: it comes back, and is given all there is.
func (h *broadcaster) send(v *viewer, m message) {
	select {
	case v.messages <- m:
	default:
		h.drop(v)
	}
}
