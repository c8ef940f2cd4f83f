package shard_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/dispatch"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// real is a shard and a dispatcher in a bubble of virtual time, which begins at zero. Calls are accepted at once.
type real struct {
	*world
	*shard.Shard
	t          *testing.T
	dispatcher *dispatch.Dispatcher
	lasts      time.Duration                             // of a call
	answer     func(e eviction.Request) eviction.Outcome // to a call; nil: it is accepted

	mu    sync.Mutex
	made  []eviction.Request // calls
	goes  []string           // what was accepted, and when its call began: "n-0 at 1"
	notes []eviction.Note
}

// newReal returns a shard that does not run yet, and a dispatcher that leads.
func newReal(t *testing.T, d dispatch.Options, o shard.Options) *real {
	r := &real{world: newWorld(), t: t}
	d.Evictor = r
	r.dispatcher = dispatch.New(d)
	o.Reader, o.Dispatcher, o.Seed = r.world, r.dispatcher, seed()
	o.Notify = func(n eviction.Note) { r.notes = append(r.notes, n) }
	r.Shard = shard.New(o)
	r.background(func(ctx context.Context) {
		if err := r.dispatcher.Lead(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

// background runs f until the end of the test.
func (r *real) background(f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); f(ctx) }()
	r.t.Cleanup(func() { cancel(); <-done })
}

// running returns a shard that runs, with these rates, and the judge of the policies.
func running(t *testing.T, d dispatch.Options, policies ...policy.Policy) *real {
	r := newReal(t, d, shard.Options{Judge: judgeWith(t, policy.Guards{Rates: d.Rates}, policies...)})
	r.background(r.Run)
	return r
}

func (r *real) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	began := time.Since(zero).Seconds()
	r.mu.Lock()
	r.made = append(r.made, e)
	r.mu.Unlock()
	select {
	case <-time.After(r.lasts):
	case <-ctx.Done():
		return eviction.Outcome{Kind: eviction.Interrupted}
	}
	o := accepted
	if r.answer != nil {
		o = r.answer(e)
	}
	if o.Kind == eviction.Accepted {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.goes = append(r.goes, fmt.Sprintf("%s at %.0f", e.Pod.UID, began))
	}
	return o
}

// calls returns how many calls were made.
func (r *real) calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.made)
}

// sleep lets time pass until that second.
func (r *real) sleep(second float64) {
	time.Sleep(time.Until(at(second)))
	synctest.Wait()
}

// wantGone wants exactly these pods to have gone by that second: "n-0 at 1".
func (r *real) wantGone(second float64, want ...string) {
	r.t.Helper()
	r.sleep(second)
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Sort(r.goes); !slices.Equal(r.goes, want) {
		r.t.Errorf("gone: %v, want %v", r.goes, want)
	}
}

// put binds pods "n-0", "n-1", … to a node in a zone, which has the taint gpu since now. They tolerate gpu for 1 s, and dead
// for 30 s.
func (r *real) put(node, zone string, pods int) {
	r.taintNode(node, "gpu", time.Now())
	r.world.mu.Lock()
	n := r.nodes[node]
	n.Labels = map[string]string{"zone": zone}
	r.nodes[node] = n
	r.world.mu.Unlock()
	for i := range pods {
		uid := types.UID(fmt.Sprint(node, "-", i))
		r.add(uid, bears("gpu", 1), bears("dead", 30))
		r.change(uid, func(pod *taint.Pod) { pod.Node = node })
	}
	r.NodeChanged(node)
}

// bears replaces a pod's tolerations.
func (r *real) bears(uid types.UID, tolerations ...v1.Toleration) {
	r.tolerate(uid, tolerations...)
	r.PodChanged(uid)
}

// view returns the view of a pod.
func (r *real) view(uid types.UID) eviction.View {
	r.t.Helper()
	views, err := r.Views(r.t.Context())
	i := slices.IndexFunc(views, func(v eviction.View) bool { return v.Pod.UID == uid })
	if err != nil || i < 0 {
		r.t.Fatalf("no view of %s: %+v, %v", uid, views, err)
	}
	return views[i]
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}
