package status

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

const (
	sampleTimeout = 5 * time.Second  // for the source to answer
	minInterval   = time.Second      // between two samples
	maxInterval   = 10 * time.Second // however long a sample takes
	share         = 50               // samples and differences may take a fiftieth of the time
	linger        = 30 * time.Second // how long a sample is kept without a request
	maxRevisions  = 120              // the number of revisions whose changes are kept
	maxShown      = 10_000           // evictions, and nodes
)

// Source has the evictions and the nodes. It is called by one goroutine at a time. A Manager of the root package is
// a source.
type Source interface {
	// Earliest returns a view of each eviction, in any order. If there are more evictions than the argument most, it
	// may return only those with the earliest deadlines, and the number of the others.
	Earliest(ctx context.Context, most int) (views []eviction.View, left int, err error)

	// Tainted returns the nodes with taints that may evict pods, in any order.
	Tainted() []*taint.Node
}

// Options are the settings of a [Server]. Source, History and Manager are required.
type Options struct {
	Source  Source
	History *History

	// Manager is called for each sample.
	Manager func() Manager

	// Pace returns how rates delay these evictions from these nodes. Nil means that rates delay none.
	Pace func(now time.Time, views []eviction.View, nodes []*taint.Node) *Pace

	// Remarks serves the path /remarks. Nil means that the path does not exist.
	Remarks http.Handler
}

// sampler has the latest sample, for all clients, and the latest changes. It takes samples when clients ask, and does
// nothing while no client asks.
type sampler struct {
	options Options
	boot    string // distinguishes the tags of this process from those of another process

	mu        sync.Mutex
	last      *sample // nil if no client has asked for some time
	began     time.Time
	spent     time.Duration // on the last sample, and on its changes
	revision  int           // counts the samples that differ from the sample before
	oldest    int           // the revision from which on all changes are known
	views     revised[types.UID, *eviction.View]
	nodes     revised[string, Node]
	forgetter *time.Timer
}

func newSampler(o Options) *sampler {
	return &sampler{
		options: o, boot: rand.Text()[:8],
		views: revised[types.UID, *eviction.View]{same: sameView},
		nodes: revised[string, Node]{same: sameNode},
	}
}

// since returns the latest sample, and the changes since the sample with the tag; nil if they are unknown, as for an
// empty tag.
func (s *sampler) since(ctx context.Context, tag string) (*sample, *difference, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, err := s.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	began := time.Now()
	d := s.difference(tag)
	s.spent += time.Since(began)
	return last, d, nil
}

// current returns the last sample, or takes a new one if the interval is over. Taking it continues
// even if the request ends, because other requests wait for it, too.
func (s *sampler) current(ctx context.Context) (*sample, error) {
	began := time.Now()
	if s.last != nil && began.Sub(s.began) < interval(s.spent) {
		return s.last, nil
	}
	next, err := s.sample(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	s.compare(next)
	s.began, s.spent = began, time.Since(began)
	if s.forgetter != nil {
		s.forgetter.Stop()
	}
	s.forgetter = time.AfterFunc(linger, s.forget)
	return next, nil
}

// interval returns the time from the beginning of a sample that took this long to the beginning of the next one.
func interval(spent time.Duration) time.Duration {
	return min(max(minInterval, share*spent), maxInterval)
}

// compare makes the sample the last one, with a new revision if it has changed.
func (s *sampler) compare(next *sample) {
	revision := s.revision + 1
	if s.last == nil {
		s.oldest = revision
	}
	oldest := max(s.oldest, revision-maxRevisions)
	views := s.views.update(revision, oldest, next.views, func(v *eviction.View) types.UID { return v.Pod.UID })
	nodes := s.nodes.update(revision, oldest, next.nodes, func(n Node) string { return n.Name })
	if s.last == nil || views || nodes || !s.last.alike(next) {
		s.revision, s.oldest = revision, oldest
	}
	next.head.Tag = fmt.Sprintf("%s-%d-%d", s.boot, s.revision, next.past.Total)
	s.last = next
}

// forget drops the last sample, so that it takes no memory.
func (s *sampler) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.views.values, s.nodes.values = nil, nil, nil
}

// difference has the changes since an earlier sample.
type difference struct {
	none      bool // nothing has changed
	views     []*eviction.View
	gone      []types.UID
	nodes     []Node
	nodesGone []string
	evicted   []PastEviction
}

// difference returns the changes since the sample with the tag, or nil if they are unknown.
func (s *sampler) difference(tag string) *difference {
	var revision int
	var total uint64
	own, found := strings.CutPrefix(tag, s.boot+"-")
	if _, err := fmt.Sscanf(own, "%d-%d", &revision, &total); !found || err != nil || revision < s.oldest ||
		revision > s.revision || total > s.last.past.Total {
		return nil
	}
	d := &difference{none: revision == s.revision}
	if d.none {
		return d
	}
	d.views, d.gone = s.views.after(revision)
	d.nodes, d.nodesGone = s.nodes.after(revision)
	slices.Sort(d.gone)
	d.views = sorted(d.views)
	slices.SortFunc(d.nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(d.nodesGone)
	latest := s.last.past.Latest
	d.evicted = latest[len(latest)-min(len(latest), int(s.last.past.Total-total)):]
	return d
}

func (s *sampler) sample(ctx context.Context) (*sample, error) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	manager := s.options.Manager()
	var views []eviction.View
	var nodes []*taint.Node
	var left int
	if manager.Synced {
		var err error
		if views, left, err = s.options.Source.Earliest(ctx, maxShown); err != nil {
			return nil, fmt.Errorf("asking for the evictions: %w", err)
		}
		nodes = s.options.Source.Tainted()
	}
	now := time.Now()
	if s.options.Pace != nil && left == 0 {
		manager.Pace = s.options.Pace(now, views, nodes)
	}
	next := newSample(now, manager, views, nodes, s.options.History.Past(now))
	next.showPart(left, len(nodes))
	return next, nil
}
