package event

import (
	"context"
	"maps"
	"slices"
	"time"
)

// summaryEvery is the shortest time between two events on a node about those that were dropped.
const summaryEvery = time.Minute

// writeOnNodes writes the events on nodes, which wait for no event on a pod: most as they come, and summaries of what
// was dropped once a minute, and when ctx has ended.
func (q *Queue) writeOnNodes(ctx, writing context.Context) {
	due := time.NewTimer(summaryEvery)
	due.Stop()
	for ctx.Err() == nil {
		select {
		case e := <-q.onNodes:
			q.send(writing, render(e, q.serial.Add(1)))
		case <-q.overrun:
			due.Reset(summaryEvery)
		case <-due.C:
			q.summarize(writing)
		case <-ctx.Done():
		}
	}
	q.writeQueued(writing)
	q.summarize(writing)
}

// writeQueued writes the notes on nodes that wait.
func (q *Queue) writeQueued(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case e := <-q.onNodes:
			q.send(ctx, render(e, q.serial.Add(1)))
		default:
			return
		}
	}
}

// summarize writes one event for each node of which any was dropped. Notes on nodes that come meanwhile go first.
func (q *Queue) summarize(ctx context.Context) {
	q.mu.Lock()
	dropped := q.dropped
	q.dropped = nil
	q.mu.Unlock()
	for _, node := range slices.Sorted(maps.Keys(dropped)) {
		q.writeQueued(ctx)
		if ctx.Err() != nil {
			q.metrics.drop(droppedShutdown, 1)
			continue
		}
		q.send(ctx, summary(node, dropped[node], time.Now(), q.serial.Add(1)))
	}
}
