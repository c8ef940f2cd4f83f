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
	tick        = time.Second      // between two samples, at least
	slowestTick = 10 * time.Second // at most, however long a sample takes
	share       = 50               // samples may take one part in 50 of the time
	beat        = 5 * time.Second  // without a change after which an empty one is sent
	linger      = 30 * time.Second // for which a viewer that reconnects can resume
)

var errEnded = errors.New("the page has ended by an error of its own, which is in the log; evictions go on; restart taint-manager to have the page again")

var errFull = errors.New("32 viewers watch already; close one, or ask for /api/v1/snapshot instead")

// message is one event of a stream: a change as JSON, or a sample of which each stream writes a snapshot.
type message struct {
	id     string
	change []byte
	sample *sample
}

// viewer is one stream. Its channel is closed when it is dropped.
type viewer struct {
	messages chan message
	resume   string // the id of the last message that it has
	in       bool   // it has had its first message
}

// broadcaster samples while there are viewers, and sends each what has changed. Nothing runs while there are none.
type broadcaster struct {
	sampler *sampler
	boot    string // distinguishes the ids of this process from another's

	mu      sync.Mutex
	viewers map[*viewer]bool
	stop    context.CancelFunc // ends the run; nil while nothing runs
	wake    chan struct{}      // a viewer has come or gone
	ended   bool               // a run has panicked
	leaving *time.Timer        // drops the last sample; nil while there is none

	seq     uint64
	current *sample
	spoke   time.Time // of the last message
	kept    []message // the latest changes, oldest first
}

func newBroadcaster(b *sampler) *broadcaster {
	return &broadcaster{sampler: b, boot: rand.Text()[:8], viewers: map[*viewer]bool{}, wake: make(chan struct{}, 1)}
}

// join adds a viewer, which has received messages up to the one of the id last; empty if it has none. The first
// viewer starts the sampling, which outlives its context.
func (b *broadcaster) join(ctx context.Context, last string) (*viewer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return nil, errEnded
	}
	if len(b.viewers) >= maxViewers {
		return nil, errFull
	}
	v := &viewer{messages: make(chan message, maxWaiting), resume: last}
	b.viewers[v] = true
	if b.leaving != nil {
		b.leaving.Stop()
		b.leaving = nil
	}
	if b.stop == nil {
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		b.stop = cancel
		go b.run(ctx)
	}
	b.changed()
	return v, nil
}

// changed wakes the run. It does not block.
func (b *broadcaster) changed() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// leave removes a viewer. It may be called again.
func (b *broadcaster) leave(v *viewer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(v)
}

// drop removes a viewer, and ends the sampling with the last one.
func (b *broadcaster) drop(v *viewer) {
	if !b.viewers[v] {
		return
	}
	delete(b.viewers, v)
	close(v.messages)
	if len(b.viewers) > 0 {
		return
	}
	b.stop()
	b.stop = nil
	b.leaving = time.AfterFunc(linger, b.forget)
}

// hasEnded reports whether a run has panicked. The page is not available from then on.
func (b *broadcaster) hasEnded() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

// end drops all viewers, and refuses further ones.
func (b *broadcaster) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	for v := range b.viewers {
		b.drop(v)
	}
}

// run samples until its context ends. A panic ends the page, not the process, which evicts.
func (b *broadcaster) run(ctx context.Context) {
	defer func() {
		if r := recover(); r != nil {
			klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", r), "The page has ended, evictions go on", "stack",
				string(debug.Stack()))
			b.end()
		}
	}()
	next := time.NewTimer(0)
	defer next.Stop()
	sampled := false
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			began := time.Now()
			sampled = b.update(ctx) || sampled
			next.Reset(pause(time.Since(began)))
		case <-b.wake:
			if sampled { // else the last sample may be old
				b.greet()
			}
		}
	}
}

// pause returns the time to the next sample after one that took this long.
func pause(took time.Duration) time.Duration { return min(max(tick, share*took), slowestTick) }

// forget drops what is kept for viewers that reconnect.
func (b *broadcaster) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop == nil {
		b.current, b.kept = nil, nil
		b.seq++ // no viewer can resume from the last id
	}
}

// update samples once and sends the change to all viewers; it reports false if it could not.
func (b *broadcaster) update(ctx context.Context) bool {
	b.mu.Lock()
	before := b.current
	b.mu.Unlock()
	var seen uint64
	if before != nil {
		seen = before.facts.Past.Total
	}
	facts, err := b.sampler.sample(ctx, seen)
	if err != nil {
		return false // a stream without messages is stale, and its viewers show that
	}
	now := newSample(facts)
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() != nil {
		return false // the last viewer has left meanwhile, and the next run may be under way
	}
	b.current = now
	if before != nil {
		b.publish(before, now)
	}
	b.welcome()
	return true
}

// publish sends what has changed, or an empty change if nothing was sent for a while.
func (b *broadcaster) publish(before, now *sample) {
	c, changed := diff(before, now)
	if !changed && now.facts.At.Sub(b.spoke) < beat {
		return
	}
	text, err := json.Marshal(c)
	if err != nil {
		return // not reached: every value in it can be written
	}
	if changed {
		b.seq++
	}
	m := message{id: b.id(), change: text}
	b.spoke = now.facts.At
	if changed {
		b.keep(m)
	}
	for v := range b.viewers {
		if v.in {
			b.send(v, m)
		}
	}
}

func (b *broadcaster) id() string { return fmt.Sprintf("%s-%d", b.boot, b.seq) }

func (b *broadcaster) keep(m message) {
	if len(b.kept) == maxKept {
		b.kept = append(b.kept[:0], b.kept[1:]...)
	}
	b.kept = append(b.kept, m)
}

// greet sends new viewers the last sample, if there is one.
func (b *broadcaster) greet() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != nil {
		b.welcome()
	}
}

// welcome sends each new viewer the messages that it has missed, or a snapshot.
func (b *broadcaster) welcome() {
	for v := range b.viewers {
		if v.in {
			continue
		}
		v.in = true
		missed, complete := b.after(v.resume)
		if !complete {
			missed = []message{{id: b.id(), sample: b.current}}
		}
		if len(missed) == 0 {
			b.spoke = time.Time{} // so that an empty change confirms soon that it has all
		}
		for _, m := range missed {
			b.send(v, m)
		}
	}
}

// after returns the messages after the one of this id, and reports whether all of them are kept.
func (b *broadcaster) after(id string) ([]message, bool) {
	number, own := strings.CutPrefix(id, b.boot+"-")
	seq, err := strconv.ParseUint(number, 10, 64)
	if !own || err != nil || seq > b.seq || b.seq-seq > uint64(min(len(b.kept), maxWaiting)) {
		return nil, false
	}
	return b.kept[len(b.kept)-int(b.seq-seq):], true
}

// send drops a viewer that is too far behind: it reconnects, and receives a snapshot.
func (b *broadcaster) send(v *viewer, m message) {
	select {
	case v.messages <- m:
	default:
		b.drop(v)
	}
}
