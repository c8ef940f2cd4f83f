package evict

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// maxReadAge is how long a GET of a node counts, from when it was sent. With one second, a burst over 100 nodes took a
// GET for every third pod, and 1.4 times as long.
const maxReadAge = 5 * time.Second

// LiveNode is what is kept of a node as a GET has shown it.
type LiveNode struct {
	Sent            time.Time // when the GET was sent
	UID             types.UID
	ResourceVersion string
	Labels          map[string]string
	Taints          []v1.Taint
	Unschedulable   bool // spec.unschedulable
}

// NewLiveNode returns what is kept of a node; sent is when its GET was sent.
func NewLiveNode(node *v1.Node, sent time.Time) LiveNode {
	return LiveNode{
		Sent: sent, UID: node.UID, ResourceVersion: node.ResourceVersion, Labels: node.Labels,
		Taints: taint.Normalize(node.Spec.Taints), Unschedulable: node.Spec.Unschedulable,
	}
}

// nodeRead is one GET of a node. It is immutable once done is closed.
type nodeRead struct {
	sent    time.Time
	done    chan struct{}
	live    LiveNode
	outcome eviction.Outcome // proceed when the node was read
}

// over reports whether the GET has ended.
func (n *nodeRead) over() bool {
	select {
	case <-n.done:
		return true
	default:
		return false
	}
}

// nodeReads share GETs of nodes. For each node one GET is under way, and another only if the first has no answer for as
// long as it counts. It is safe for concurrent use.
type nodeReads struct {
	get     func(ctx context.Context, name string) (*v1.Node, error)
	timeout time.Duration
	clock   Clock
	table   []rule
	ended   func(sent time.Time, o eviction.Outcome) // of each GET that has ended

	mu     sync.Mutex
	byNode map[string]*nodeRead // the latest GET of each node, while it counts
}

func newNodeReads(get func(ctx context.Context, name string) (*v1.Node, error), o *ConfirmOptions) *nodeReads {
	return &nodeReads{
		get: get, timeout: o.Timeout, clock: o.Clock, table: rules(), ended: o.NodeRead, byNode: map[string]*nodeRead{},
	}
}

// since returns a GET of the node that was sent at notBefore or later. The GET may have failed, or have taken longer
// than it counts. notBefore is asked again after each wait. since fails only if the context ends.
func (n *nodeReads) since(ctx context.Context, node string, notBefore func() time.Time) (*nodeRead, error) {
	for {
		read, mine := n.take(node, notBefore())
		if mine {
			n.do(ctx, node, read)
		}
		if err := n.clock.Wait(ctx, read.done); err != nil {
			return nil, err
		}
		// A GET that was cancelled with another call's context shows nothing. A GET that has found the server
		// unreachable ends the call, whenever it was sent: another GET would do no better.
		if mine || read.outcome.Kind == eviction.Unavailable || !read.sent.Before(notBefore()) &&
			read.outcome.Kind != eviction.Interrupted {
			return read, nil
		}
	}
}

// take returns a GET to wait for; mine reports that the caller is to make it.
func (n *nodeReads) take(node string, notBefore time.Time) (read *nodeRead, mine bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.clock.Now()
	last := n.byNode[node]
	if last != nil && now.Sub(last.sent) <= maxReadAge && (!last.over() || !last.sent.Before(notBefore)) {
		return last, false
	}
	read = &nodeRead{sent: now, done: make(chan struct{})}
	n.byNode[node] = read
	return read, true
}

// do makes the GET. A GET that has failed is dropped at once, any other GET once it is older than maxReadAge.
func (n *nodeReads) do(ctx context.Context, name string, read *nodeRead) {
	bounded, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	node, err := n.get(bounded, name)
	read.outcome = classify(n.table, readAnswer(ctx, getVerb, err))
	read.outcome.NodeRead = true
	n.ended(read.sent, read.outcome)
	if read.outcome.Kind == proceed {
		read.live = NewLiveNode(node, read.sent)
		age := n.clock.Now().Sub(read.sent)
		n.clock.AfterFunc(maxReadAge-age+time.Nanosecond, func() { n.drop(name, read) })
	} else {
		n.drop(name, read)
	}
	close(read.done)
}

func (n *nodeReads) drop(name string, read *nodeRead) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byNode[name] == read {
		delete(n.byNode, name)
	}
}

// Clock is the time by which calls are confirmed. Its times carry the monotonic clock.
type Clock interface {
	Now() time.Time

	// AfterFunc calls do after the duration.
	AfterFunc(d time.Duration, do func())

	// Wait blocks until done is closed. It returns the context's error if the context ends first.
	Wait(ctx context.Context, done <-chan struct{}) error
}

// machine is the clock of the machine.
type machine struct{}

// Now returns the present time.
func (machine) Now() time.Time { return time.Now() }

// AfterFunc calls do after the duration, in a goroutine of its own.
func (machine) AfterFunc(d time.Duration, do func()) { time.AfterFunc(d, do) }

// Wait blocks until done is closed.
func (machine) Wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
