package shard

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/taint-manager/taint-manager/internal/dispatch"
)

// inbox collects what the shard has not processed yet: changes, and calls that have ended. Any goroutine may add, at
// any time and without blocking; one goroutine takes. The changes are in two client-go workqueues under the names that
// the original has, so that their metrics stay. A change of what the shard processes at that moment is queued again.
type inbox struct {
	some  chan struct{} // holds a token if anything was added since the shard has looked
	nodes changes[string]
	pods  changes[types.UID]

	mu    sync.Mutex
	ended []dispatch.Ended
}

func newInbox() *inbox { return &inbox{some: make(chan struct{}, 1)} }

// open makes the queues.
func (in *inbox) open() {
	in.nodes.open("noexec_taint_node")
	in.pods.open("noexec_taint_pod")
}

// close ends the queues. What is added later is dropped.
func (in *inbox) close() {
	in.nodes.queue.ShutDown()
	in.pods.queue.ShutDown()
}

func (in *inbox) addNode(name string) {
	in.nodes.add(name)
	in.wake()
}

func (in *inbox) addPod(uid types.UID) {
	in.pods.add(uid)
	in.wake()
}

// addEnded adds a call that has ended.
func (in *inbox) addEnded(e dispatch.Ended) {
	in.mu.Lock()
	in.ended = append(in.ended, e)
	in.mu.Unlock()
	in.wake()
}

// takeEnded removes and returns the calls that have ended.
func (in *inbox) takeEnded() []dispatch.Ended {
	in.mu.Lock()
	defer in.mu.Unlock()
	ended := in.ended
	in.ended = nil
	return ended
}

func (in *inbox) wake() {
	select {
	case in.some <- struct{}{}:
	default:
	}
}

// changes is a workqueue, and what was added before it was made. It is made when the shard runs, as it has a goroutine.
type changes[T comparable] struct {
	mu    sync.Mutex
	early map[T]bool // nil when empty
	queue *workqueue.Typed[T]
}

// add adds an item; repeats collapse.
func (c *changes[T]) add(item T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queue == nil {
		if c.early == nil {
			c.early = map[T]bool{}
		}
		c.early[item] = true
		return
	}
	c.queue.Add(item)
}

func (c *changes[T]) open(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{Name: name})
	for item := range c.early {
		c.queue.Add(item)
	}
	c.early = nil
}

// process takes the next item and processes it; false if there is none. It does not block, as no other goroutine takes.
func (c *changes[T]) process(f func(T)) bool {
	if c.queue.Len() == 0 {
		return false
	}
	item, _ := c.queue.Get()
	defer c.queue.Done(item)
	f(item)
	return true
}
