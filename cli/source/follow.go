package source

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/status"
)

// askAgainAfter is the shortest time between two requests for what has changed. It is below the second after which the
// state is shown again, so that none of these is missed.
const askAgainAfter = 900 * time.Millisecond

// Followed is the state of a manager, which is asked for what has changed when it is shown.
type Followed struct {
	from      *Manager
	namespace string   // in question; empty for all
	among     []string // nodes in question; empty for all

	asked     time.Time
	trouble   error  // why the manager did not answer
	tag       string // of the last answer
	manager   status.Manager
	evictions map[string]status.Eviction
	nodes     map[string]status.Node
	evicted   map[string]bool
}

// Follow requests the state once, so that a refusal is reported at once. It returns an error if the context ends first.
func (m *Manager) Follow(ctx context.Context, namespace string, nodes []string) (*Followed, error) {
	f := &Followed{from: m, namespace: namespace, among: nodes, evicted: map[string]bool{}}
	f.ask(ctx)
	return f, cmp.Or(f.trouble, ctx.Err())
}

// ask requests what has changed since the last answer, or everything, and applies it.
func (f *Followed) ask(ctx context.Context) {
	var c status.Changes
	f.asked = time.Now()
	changed, err := f.from.get(ctx, f.tag, &c)
	whole := c.Kind != status.KindChanges || f.tag == ""
	if changed && whole {
		err = f.from.check(c.TypeMeta, c.Manager)
	}
	if ctx.Err() != nil {
		return
	}
	f.trouble = err
	if !changed || err != nil {
		return
	}
	if whole {
		f.evictions, f.nodes = map[string]status.Eviction{}, map[string]status.Node{}
	}
	f.apply(&c)
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

// News returns nil: a manager does not tell when something has changed.
func (f *Followed) News() <-chan struct{} { return nil }

// Pending returns the evictions that the manager has of the pods in question. A note says why it does not answer.
func (f *Followed) Pending(ctx context.Context) *foresight.Pending {
	if time.Since(f.asked) >= askAgainAfter {
		f.ask(ctx)
	}
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
	if f.evicted[uid] {
		return Evicted, ""
	}
	return Over, ""
}
