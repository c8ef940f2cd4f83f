package event

import (
	"context"
	"maps"
	"slices"
	"time"
)

// summaryEvery is how often a node is told at most how many of its events were dropped.
const summaryEvery = time.Minute

// summarize tells the nodes how many of their events were dropped: a minute's worth at a time, and the
// rest when ctx has ended.
func (q *Queue) summarize(ctx, writing context.Context) {
	for {
		select {
		case <-q.overrun:
			pause(ctx, summaryEvery)
		case <-ctx.Done():
		}
		q.tell(writing)
		if ctx.Err() != nil {
			return
		}
	}
}

// tell writes one event for each node of which any was dropped.
func (q *Queue) tell(ctx context.Context) {
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
