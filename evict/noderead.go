package evict

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/shard"
)

// fresh is how long what a GET of a node has shown counts. With one second, a burst over 100 nodes took
// a GET for every third pod, and 1.4 times as long.
const fresh = 5 * time.Second

// nodeRead is one GET of a node. It is immutable once done is closed.
type nodeRead struct {
	sent    time.Time
	done    chan struct{}
	node    *v1.Node
	outcome shard.Outcome // goOn when there is a node
}

// over says whether the GET has ended.
func (r *nodeRead) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// serves says whether the GET tells of a node what was so at the moment due, or later, and not too
// long ago.
func (r *nodeRead) serves(due, now time.Time) bool {
	return !r.sent.Before(due) && now.Sub(r.sent) <= fresh
}

// nodeReads share GETs of nodes: one is under way for each node at most, and who asks too late for it
// waits for the next. They are safe for concurrent use.
type nodeReads struct {
	get     func(ctx context.Context, name string) (*v1.Node, error)
	timeout time.Duration
	table   []rule
	told    func(sent time.Time, o shard.Outcome) // of each GET that has ended

	mu     sync.Mutex
	byNode map[string]*nodeRead // the latest of each
}

func newNodeReads(get func(ctx context.Context, name string) (*v1.Node, error), timeout time.Duration) *nodeReads {
	told := func(time.Time, shard.Outcome) {}
	return &nodeReads{get: get, timeout: timeout, table: rules(), told: told, byNode: map[string]*nodeRead{}}
}

// since returns a GET of the node that was sent at the moment due or later. It fails only when the
// context ends.
func (r *nodeReads) since(ctx context.Context, node string, due time.Time) (*nodeRead, error) {
	for {
		read, mine := r.take(node, due)
		if mine {
			r.do(ctx, node, read)
		}
		select {
		case <-read.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		// One that was cut short with another's context says nothing.
		if mine || !read.sent.Before(due) && read.outcome.Kind != shard.Interrupted {
			return read, nil
		}
	}
}

// take returns a GET to wait for; mine says that the caller is to do it.
func (r *nodeReads) take(node string, due time.Time) (read *nodeRead, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	last := r.byNode[node]
	if last != nil && (!last.over() || last.serves(due, now)) {
		return last, false
	}
	r.forget(now)
	read = &nodeRead{sent: now, done: make(chan struct{})}
	r.byNode[node] = read
	return read, true
}

// forget drops what no longer counts, when it has become much.
func (r *nodeReads) forget(now time.Time) {
	const much = 128
	if len(r.byNode) < much {
		return
	}
	for node, read := range r.byNode {
		if read.over() && now.Sub(read.sent) > fresh {
			delete(r.byNode, node)
		}
	}
}

// do makes the GET. What failed serves nobody but those who wait for it.
func (r *nodeReads) do(ctx context.Context, name string, read *nodeRead) {
	bounded, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	node, err := r.get(bounded, name)
	read.node, read.outcome = node, classify(r.table, readAnswer(ctx, getVerb, err))
	read.outcome.NodeRead = true
	r.told(read.sent, read.outcome)
	if read.outcome.Kind != goOn {
		r.drop(name, read)
	}
	close(read.done)
}

func (r *nodeReads) drop(name string, read *nodeRead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byNode[name] == read {
		delete(r.byNode, name)
	}
}
