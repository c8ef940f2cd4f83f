package managertest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
)

// podLoad is a manager over a herd, with an evictor that takes some time and then deletes the pod.
type podLoad struct {
	*herd
	*taintmanager.Manager
	client *fake.Clientset
	lasts  time.Duration

	mu   sync.Mutex
	went []string // in the order of their calls
	at   map[string]time.Time
}

// gather starts the manager, which runs until ctx ends. It must be called in a bubble.
func gather(ctx context.Context, t *testing.T, h *herd, lasts time.Duration, o taintmanager.Options) *podLoad {
	t.Helper()
	c := &podLoad{herd: h, client: h.client(), lasts: lasts, at: map[string]time.Time{}}
	c.client.PrependReactor("get", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
		node, _ := h.byName.Load(a.(clienttesting.GetAction).GetName())
		return true, node.(*v1.Node), nil
	})
	o.Evictor, o.Events, o.Logger = c, nowhere{}, logr.FromSlogHandler(slog.DiscardHandler)
	var err error
	c.Manager, err = taintmanager.New(c.client, h.pods, o)
	must(t, err)
	go h.pods.RunWithContext(ctx)
	go func() { _ = c.Run(ctx) }()
	go func() { _ = c.Lead(ctx) }()
	synctest.Wait()
	return c
}

func (p *podLoad) Evict(ctx context.Context, e taintmanager.Eviction) taintmanager.Outcome {
	p.mu.Lock()
	p.went = append(p.went, e.Pod.Name)
	p.at[e.Pod.Name] = time.Now()
	p.mu.Unlock()
	time.Sleep(p.lasts)
	if ctx.Err() == nil {
		p.pods.watch.Delete(podOn(e.Pod.Node, e.Pod.Name))
	}
	return taintmanager.Outcome{Kind: eviction.Accepted}
}

// ended waits until no eviction is left, and returns the evicted pods and their times.
func (p *podLoad) ended() (went []string, at map[string]time.Time) {
	time.Sleep(400 * time.Second)
	synctest.Wait()
	return p.went, p.at
}

// cpu returns the CPU time that this process has used, including garbage collection.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// The aim is a second for 5000 nodes; three allow for machines that are slower or loaded. The race detector takes
// ten times as long, so it gets a tenth of the nodes.
func TestThirtyPodsOnEachOfFiveThousandNodesAreJudgedInASecondOfCPU(t *testing.T) {
	nodes := 5000
	if raceDetector || testing.Short() {
		nodes = 500
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		h := newHerd(nodes)
		h.each = 30
		c := gather(ctx, t, h, time.Millisecond, taintmanager.Options{})
		h.arrive()
		all := nodes * h.each

		quiet := heap()
		begin := cpu(t)
		h.taint(true)
		judged := cpu(t) - begin
		if n := c.Scheduled(); n != all {
			t.Fatalf("%d evictions are scheduled, want %d", n, all)
		}
		if judged > 3*time.Second {
			t.Errorf("judging %d pods took %v of CPU", all, judged)
		}
		scheduled := heap()
		h.taint(false)
		lifted := heap()
		if n := c.Scheduled(); n != 0 || lifted > quiet+quiet/20+1<<20 {
			t.Errorf("after it was lifted, %d evictions are scheduled, and the heap has grown from %d to %d bytes", n, quiet, lifted)
		}

		h.taint(true)
		begin = cpu(t)
		went, _ := c.ended()
		evicting := cpu(t) - begin
		if len(went) != all || c.Scheduled() != 0 {
			t.Errorf("%d pods went, %d are scheduled; want all %d gone", len(went), c.Scheduled(), all)
		}
		t.Logf("%d pods on %d nodes: %.2f s of CPU to judge all; %.0f us for each eviction; heap %d MB quiet, %d with all scheduled, %d after the taints were lifted",
			all, nodes, judged.Seconds(), float64(evicting.Microseconds())/float64(all), quiet>>20, scheduled>>20, lifted>>20)
		stop()
		synctest.Wait()
	})
}

// Only the order decides which pod waits: a call takes 100 ms, and the burst takes ten seconds.
func TestABurstOnOneNodeDoesNotKeepAnothersPodWaiting(t *testing.T) {
	const burst, slots, call = 3000, 32, 100 * time.Millisecond
	for _, shards := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			h := newHerd(0)
			c := gather(ctx, t, h, call, taintmanager.Options{Workers: slots, Shards: shards})
			key := v1.Taint{Key: "key", Effect: v1.TaintEffectNoExecute}
			crowded, other := h.node("crowded", key), h.node("other")
			h.nodes.Add(crowded)
			h.nodes.Add(other)
			h.pods.watch.Add(podOn("other", "single"))
			for i := range burst {
				h.pods.watch.Add(podOn("crowded", fmt.Sprint("p", i)))
			}
			time.Sleep(time.Second + call/2) // the burst is under way
			due := time.Now()
			h.nodes.Modify(h.node("other", key))
			went, at := c.ended()
			waited, last := at["single"].Sub(due), at[went[len(went)-1]].Sub(due)
			if len(went) != burst+1 || waited > call {
				t.Errorf("with %d shards: %d went; the single pod waited %v, want one call's time at most", shards, len(went), waited)
			}
			t.Logf("%d shards: the single pod waited %v, the last of the burst %v", shards, waited, last)
			stop()
			synctest.Wait()
		})
	}
}
