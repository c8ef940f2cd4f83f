package event

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
)

// oneByOne is a sink that fails the test if two writes of a namespace are under way at once, or if a namespace's events
// do not come in the order of their notes.
type oneByOne struct {
	t      *testing.T
	chance *rand.Rand

	mu    sync.Mutex
	under map[string]bool
	last  map[string]time.Time
}

func (s *oneByOne) Create(ctx context.Context, event *v1.Event) error {
	s.mu.Lock()
	if s.under[event.Namespace] || event.FirstTimestamp.Time.Before(s.last[event.Namespace]) {
		s.t.Errorf("a write of %s at %v, although one of %v has begun", event.Namespace, event.FirstTimestamp, s.last[event.Namespace])
	}
	s.under[event.Namespace], s.last[event.Namespace] = true, event.FirstTimestamp.Time
	lasts, fails := time.Duration(s.chance.IntN(100))*time.Millisecond, s.chance.IntN(3) == 0
	if s.chance.IntN(10) == 0 {
		lasts = time.Minute
	}
	s.mu.Unlock()
	err := slow(lasts)(ctx, 0)
	if fails && err == nil {
		err = errors.New("connection refused")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under[event.Namespace] = false
	return err
}

func TestAnyHistoryOfNotesIsWrittenInOrderOrCounted(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			chance := rand.New(rand.NewPCG(seed, 0))
			sink := &oneByOne{t: t, chance: chance, under: map[string]bool{}, last: map[string]time.Time{}}
			q, end := start(t, Options{Sink: sink, Capacity: 1 + chance.IntN(8)})
			notes, namespaces := 1+chance.IntN(200), 1+chance.IntN(5)
			for i := range notes {
				sink.mu.Lock()
				k, pause := sink.chance.IntN(namespaces+1), sink.chance.IntN(3) == 0
				sink.mu.Unlock()
				if k == 0 {
					q.PutDrained("n1")
				} else {
					q.Put(noteIn(fmt.Sprint("team-", k), i))
				}
				if pause {
					time.Sleep(time.Duration(k) * 100 * time.Millisecond)
				}
			}
			end()
			counted, full := q.writtenCount(), q.droppedBy(droppedFull)
			for _, reason := range []string{droppedFull, droppedFailed, droppedTimeout, droppedRefused, droppedShutdown} {
				counted += q.droppedBy(reason)
			}
			if counted < notes || counted > notes+full || q.waiting != 0 {
				t.Errorf("seed %d: %d notes, %d written or dropped, %d of them because of room", seed, notes, counted, full)
			}
		})
	}
}
