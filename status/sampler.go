package status

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// sampleTimeout bounds how long the source may take to answer.
const sampleTimeout = 5 * time.Second

// Source has the evictions and the nodes. It is called by one goroutine at a time. A Manager of the root package is
// a source.
type Source interface {
	// Views returns a view of each eviction, in any order.
	Views(ctx context.Context) ([]eviction.View, error)

	// Tainted returns the nodes that carry NoExecute taints, in any order.
	Tainted() []*taint.Node
}

// Health reports whether the cluster can be watched.
type Health interface {
	HasSynced() bool
	Trouble() error
}

// Options are what a [Server] shows. Source, Health, History and Role are required.
type Options struct {
	Source  Source
	Health  Health
	History *History

	// Role is called for each sample: it returns the fields Identity, Role and Leader.
	Role func() Manager

	// Warning is called for each sample, and returns the field of [Manager]. Nil means none.
	Warning func() string

	Version string
	DryRun  bool

	// Cluster, EvictionMethod and MaxEvictionsPerSecond are the fields of [Manager].
	Cluster               string
	EvictionMethod        string
	MaxEvictionsPerSecond float64
}

// sampler samples the source, once at a time.
type sampler struct {
	options  Options
	sampling sync.Mutex
}

// sample returns the facts of now, with the past evictions from the n-th on.
func (s *sampler) sample(ctx context.Context, n uint64) (Facts, error) {
	s.sampling.Lock()
	defer s.sampling.Unlock()
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	f := Facts{Manager: s.manager()}
	if f.Manager.Synced {
		views, err := s.options.Source.Views(ctx)
		if err != nil {
			return Facts{}, fmt.Errorf("asking for the evictions: %w", err)
		}
		f.Views, f.Nodes = views, s.options.Source.Tainted()
	}
	f.At = time.Now()
	f.Past = s.options.History.Since(n, f.At)
	return f, nil
}

func (s *sampler) manager() Manager {
	m := s.options.Role()
	m.Version, m.DryRun = s.options.Version, s.options.DryRun
	m.Cluster, m.MaxEvictionsPerSecond = s.options.Cluster, s.options.MaxEvictionsPerSecond
	m.EvictionMethod = cmp.Or(m.EvictionMethod, s.options.EvictionMethod)
	m.Synced = s.options.Health.HasSynced()
	if err := s.options.Health.Trouble(); err != nil {
		m.Trouble = err.Error()
	}
	if s.options.Warning != nil {
		m.Warning = s.options.Warning()
	}
	return m
}
