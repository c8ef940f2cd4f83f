package shard

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// inbox collects changes until the shard processes them: two client-go workqueues, under the
// names that the original has, so that their metrics stay; each forwarded to a channel on which the
// shard selects. An item that changes while the shard processes it is queued again.
type inbox struct {
	nodes *changes[string]
	pods  *changes[types.UID]
	nodeC chan string
	podC  chan types.UID
}

func newInbox() *inbox {
	return &inbox{
		nodes: &changes[string]{early: map[string]bool{}},
		pods:  &changes[types.UID]{early: map[types.UID]bool{}},
		nodeC: make(chan string),
		podC:  make(chan types.UID),
	}
}

// forward makes the queues, and starts the two goroutines that empty them into the channels. stop ends
// them.
func (in *inbox) forward(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	in.nodes.open("noexec_taint_node")
	in.pods.open("noexec_taint_pod")
	var forwarders sync.WaitGroup
	forwarders.Go(func() { forward(ctx, in.nodes.Typed, in.nodeC) })
	forwarders.Go(func() { forward(ctx, in.pods.Typed, in.podC) })
	return func() {
		cancel()
		in.nodes.ShutDown()
		in.pods.ShutDown()
		forwarders.Wait()
	}
}

// changes is a workqueue, and what was added before it was made. It is made when the shard runs, as it has a
// goroutine.
type changes[T comparable] struct {
	mu    sync.Mutex
	early map[T]bool
	*workqueue.Typed[T]
}

// Add adds an item; repeats collapse. Any goroutine may add, at any time.
func (c *changes[T]) Add(item T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Typed == nil {
		c.early[item] = true
		return
	}
	c.Typed.Add(item)
}

// open makes the queue.
func (c *changes[T]) open(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Typed = workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{Name: name})
	for item := range c.early {
		c.Typed.Add(item)
	}
	c.early = nil
}

func forward[T comparable](ctx context.Context, queue *workqueue.Typed[T], to chan<- T) {
	for {
		item, shutdown := queue.Get()
		if shutdown {
			return
		}
		select {
		case to <- item: // the shard calls Done when it has judged
		case <-ctx.Done():
			queue.Done(item)
			return
		}
	}
}
