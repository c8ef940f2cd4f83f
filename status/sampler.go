package status

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// lookTimeout bounds how long the source may take to answer.
const lookTimeout = 5 * time.Second

// Source knows the evictions and the nodes. It is asked by one goroutine at a time. Taint managers of
// the root package are sources.
type Source interface {
	// Views returns what is known of each eviction, in any order.
	Views(ctx context.Context) ([]eviction.View, error)

	// Tainted returns the nodes that carry NoExecute taints, in any order.
	Tainted() []*taint.Node
}

// Health knows how well the cluster is seen.
type Health interface {
	HasSynced() bool
	Trouble() error
}

// Options are what a [Server] shows. Source, Health, History and Role are required.
type Options struct {
	Source  Source
	Health  Health
	History *History

	// Role is asked for each picture: the fields Identity, Role and Leader.
	Role func() Manager

	Version string
	DryRun  bool

	// Cluster, EvictionMethod and MaxEvictionsPerSecond are the fields of [Manager].
	Cluster               string
	EvictionMethod        string
	MaxEvictionsPerSecond float64
}

// sampler looks at the source, one look at a time.
type sampler struct {
	options Options
	looking sync.Mutex
}

// look takes in all that is known now, with the evictions from the n-th on.
func (b *sampler) look(ctx context.Context, n uint64) (Facts, error) {
	b.looking.Lock()
	defer b.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	f := Facts{Manager: b.manager()}
	if f.Manager.Synced {
		views, err := b.options.Source.Views(ctx)
		if err != nil {
			return Facts{}, fmt.Errorf("asking for the evictions: %w", err)
		}
		f.Views, f.Nodes = views, b.options.Source.Tainted()
	}
	f.At = time.Now()
	f.Past = b.options.History.Since(n, f.At)
	return f, nil
}

func (b *sampler) manager() Manager {
	m := b.options.Role()
	m.Version, m.DryRun = b.options.Version, b.options.DryRun
	m.Cluster, m.EvictionMethod, m.MaxEvictionsPerSecond = b.options.Cluster, b.options.EvictionMethod, b.options.MaxEvictionsPerSecond
	m.Synced = b.options.Health.HasSynced()
	if err := b.options.Health.Trouble(); err != nil {
		m.Trouble = err.Error()
	}
	return m
}
