package evict

import (
	"context"
	"maps"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// maxReadAge is how long a GET of a node counts after it was sent. With one second, a burst over 100 nodes took a GET
// for every third pod, and 1.4 times as long.
const maxReadAge = 5 * time.Second

// LiveNode has the fields of a node that confirmations use, as a GET returned them.
type LiveNode struct {
	Sent            time.Time // when the GET was sent
	UID             types.UID
	ResourceVersion string
	Labels          map[string]string
	Taints          []v1.Taint
	Unschedulable   bool // spec.unschedulable
}

// NewLiveNode returns the LiveNode of a node; sent is when its GET was sent.
func NewLiveNode(node *v1.Node, sent time.Time) LiveNode {
	return LiveNode{
		Sent: sent, UID: node.UID, ResourceVersion: node.ResourceVersion, Labels: node.Labels,
		Taints: taint.Normalize(node.Spec.Taints), Unschedulable: node.Spec.Unschedulable,
	}
}

// nodeRead is one GET of a node. It is immutable once done is closed. Until the GET has an answer, its outcome is that
// of a GET that was cut.
type nodeRead struct {
	sent    time.Time
	done    chan struct{}
	live    LiveNode
	outcome eviction.Outcome // proceed when the node was read
}

func newNodeRead(sent time.Time) *nodeRead {
	return &nodeRead{sent: sent, done: make(chan struct{}), outcome: interrupted()}
}

// serves reports whether a call may wait for the GET, or use its answer: the GET is in flight, or it has succeeded and
// was sent at notBefore or later.
func (n *nodeRead) serves(notBefore time.Time) bool {
	select {
	case <-n.done:
		return n.outcome.Kind == proceed && !n.sent.Before(notBefore)
	default:
		return true
	}
}

// readNode returns a GET of the node that was sent at notBefore or later. The GET may have failed, or may have taken
// longer than maxReadAge. At most one GET of a node is in flight, unless the first has had no answer for maxReadAge.
// notBefore is called again after each wait. readNode fails only if the context ends.
func (c *Confirmed) readNode(ctx context.Context, node string, notBefore func() time.Time) (*nodeRead, error) {
	for {
		read, mine := c.takeRead(node, notBefore())
		if mine {
			c.get(ctx, node, read)
		}
		if err := c.Clock.Wait(ctx, read.done); err != nil {
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

// takeRead returns a GET to wait for; mine reports that the caller is to make it.
func (c *Confirmed) takeRead(node string, notBefore time.Time) (read *nodeRead, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.reads[node]
	if last != nil && c.Clock.Now().Sub(last.sent) <= maxReadAge && last.serves(notBefore) {
		return last, false
	}
	return c.newRead(node), true
}

// newRead returns a new GET, for the caller to make, and forgets the GETs that no longer count. The caller holds the
// lock.
func (c *Confirmed) newRead(node string) *nodeRead {
	now := c.Clock.Now()
	maps.DeleteFunc(c.reads, func(_ string, old *nodeRead) bool { return now.Sub(old.sent) > maxReadAge })
	read := newNodeRead(now)
	c.reads[node] = read
	return read
}

// Read reads a node; NodeRead receives the outcome. Calls that need no later GET use the answer.
func (c *Confirmed) Read(ctx context.Context, node string) {
	c.mu.Lock()
	read := c.newRead(node)
	c.mu.Unlock()
	c.get(ctx, node, read)
}

// get makes the GET. If it panics, those that wait for the GET make their own.
func (c *Confirmed) get(ctx context.Context, name string, read *nodeRead) {
	defer close(read.done)
	bounded, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	node, err := c.getNode(bounded, name)
	read.outcome = classify(readAnswer(ctx, getVerb, err))
	read.outcome.NodeRead = true
	c.NodeRead(name, read.sent, read.outcome)
	if read.outcome.Kind == proceed {
		read.live = NewLiveNode(node, read.sent)
	}
}

// Clock is the time by which calls are confirmed. Its times carry the monotonic clock.
type Clock interface {
	Now() time.Time

	// Wait blocks until done is closed. It returns the context's error if the context ends first.
	Wait(ctx context.Context, done <-chan struct{}) error
}

// machine is the clock of the machine.
type machine struct{}

// Now returns the present time.
func (machine) Now() time.Time { return time.Now() }

// Wait blocks until done is closed.
func (machine) Wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
