package event

import (
	"context"
	"maps"
	"slices"
	"time"
)

// summaryEvery is the shortest time between two events on a node about those that were dropped.
const summaryEvery = time.Minute

// summarize writes an event on each node of which events were dropped: once a minute, and for the rest when ctx
// has ended.
func (q *Queue) summarize(ctx, writing context.Context) {
	for {
		select {
		case <-q.overrun:
			pause(ctx, summaryEvery)
		case <-ctx.Done():
		}
		q.flush(writing)
		if ctx.Err() != nil {
			return
		}
	}
}

// flush writes one event for each node of which any was dropped.
func (q *Queue) flush(ctx context.Context) {
	q.mu.Lock()
	dropped := q.dropped
	q.dropped = nil
	q.mu.Unlock()
	for _, node := range slices.Sorted(maps.Keys(dropped)) {
		if ctx.Err() != nil {
			q.metrics.drop(droppedShutdown, 1)
			continue
		}
		q.send(ctx, summary(node, dropped[node], time.Now(), q.serial.Add(1)))
	}
}
