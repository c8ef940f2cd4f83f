package shard

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// inbox collects what has changed until the shard gets to it: two client-go workqueues, under the
// names that the original has, so that their metrics stay; each forwarded to a channel on which the
// shard selects. An item that changes again while the shard is at it comes again.
type inbox struct {
	nodes *workqueue.Typed[string]
	pods  *workqueue.Typed[types.UID]
	nodeC chan string
	podC  chan types.UID
}

func newInbox() *inbox {
	return &inbox{
		nodes: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "noexec_taint_node"}),
		pods:  workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[types.UID]{Name: "noexec_taint_pod"}),
		nodeC: make(chan string),
		podC:  make(chan types.UID),
	}
}

// forward starts the two goroutines that empty the queues into the channels. stop ends them.
func (in *inbox) forward(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var forwarders sync.WaitGroup
	forwarders.Go(func() { forward(ctx, in.nodes, in.nodeC) })
	forwarders.Go(func() { forward(ctx, in.pods, in.podC) })
	return func() {
		cancel()
		in.nodes.ShutDown()
		in.pods.ShutDown()
		forwarders.Wait()
	}
}

func forward[T comparable](ctx context.Context, queue *workqueue.Typed[T], to chan<- T) {
	for {
		item, shutdown := queue.Get()
		if shutdown {
			return
		}
		select {
		case to <- item: // the shard says Done when it has judged
		case <-ctx.Done():
			queue.Done(item)
			return
		}
	}
}
