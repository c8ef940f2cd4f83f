package source

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/status"
)

// askAgainAfter is the time between two requests for what has changed.
const askAgainAfter = time.Second

// Followed is the state of a manager, which is asked every second for what has changed.
type Followed struct {
	from      *Manager
	namespace string   // in question; empty for all
	among     []string // nodes in question; empty for all
	changed   chan struct{}

	mu        sync.Mutex // guards all below
	tag       string     // of the last answer
	manager   status.Manager
	evictions map[string]status.Eviction
	nodes     map[string]status.Node
	evicted   map[string]bool
	trouble   error // why the manager does not answer
}

// Follow requests the state once, so that a refusal is reported at once; then it asks for changes until the context
// ends.
func (m *Manager) Follow(ctx context.Context, namespace string, nodes []string) (*Followed, error) {
	f := &Followed{
		from: m, namespace: namespace, among: nodes, changed: make(chan struct{}, 1), evicted: map[string]bool{},
	}
	if err := f.ask(ctx); err != nil {
		return nil, err
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(askAgainAfter):
			}
			f.note(f.ask(ctx))
		}
	}()
	return f, nil
}

// ask requests what has changed since the last answer, or everything, and applies it.
func (f *Followed) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*answerPatience)
	defer cancel()
	body, err := f.from.get(ctx, f.tag)
	if err != nil || body == http.NoBody {
		return err
	}
	defer body.Close()
	var c status.Changes
	if err := json.NewDecoder(&bounded{body, largestAnswer}).Decode(&c); err != nil {
		return f.from.errNotManager(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.Kind != status.KindChanges || f.tag == "" {
		if err := f.from.check(c.TypeMeta, c.Manager); err != nil {
			return err
		}
		f.evictions, f.nodes = map[string]status.Eviction{}, map[string]status.Node{}
	}
	f.apply(&c)
	return nil
}

func (f *Followed) apply(c *status.Changes) {
	f.tag, f.manager = c.Tag, c.Manager
	for i := range c.Evictions {
		f.evictions[c.Evictions[i].UID] = c.Evictions[i]
	}
	for _, uid := range c.Gone {
		delete(f.evictions, string(uid))
	}
	for _, n := range c.Nodes {
		f.nodes[n.Name] = n
	}
	for _, name := range c.NodesGone {
		delete(f.nodes, name)
	}
	for i := range c.Evicted {
		f.evicted[c.Evicted[i].UID] = true
	}
}

// note keeps why the manager does not answer, and signals a change.
func (f *Followed) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trouble = err
	notify(f.changed)
}

// News receives a value when something may have changed.
func (f *Followed) News() <-chan struct{} { return f.changed }

// Pending returns the evictions that the manager has of the pods in question. A note says why it does not answer.
func (f *Followed) Pending() *foresight.Pending {
	f.mu.Lock()
	defer f.mu.Unlock()
	pending := pendingOf(&status.Snapshot{
		At: time.Now().Round(0), Manager: f.manager,
		Evictions: slices.Collect(maps.Values(f.evictions)), Nodes: slices.Collect(maps.Values(f.nodes)),
	}, f.namespace, f.among)
	if f.trouble != nil {
		pending.Notes = append(pending.Notes, fmt.Sprintf("the manager does not answer, so this may be "+
			"out of date: %v", f.trouble))
	}
	return pending
}

// Ended returns [Evicted] if the manager has evicted the pod within the last hour, or since it is followed, else
// [Over].
func (f *Followed) Ended(uid string) (change, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.evicted[uid] {
		return Evicted, ""
	}
	return Over, ""
}
