package managertest

import (
	"context"
	"log/slog"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
)

// podLoad is a manager over a herd, with an evictor that takes a millisecond and then deletes the pod.
type podLoad struct {
	*herd
	*taintmanager.Manager
	went atomic.Int64 // pods
}

// gather starts the manager, which runs until ctx ends. It must be called in a bubble.
func gather(ctx context.Context, t *testing.T, h *herd) *podLoad {
	t.Helper()
	c, client := &podLoad{herd: h}, h.client()
	client.PrependReactor("get", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
		node, _ := h.byName.Load(a.(clienttesting.GetAction).GetName())
		return true, node.(*v1.Node), nil
	})
	var err error
	c.Manager, err = taintmanager.New(client, h.pods, taintmanager.Options{
		Evictor: c, Events: nowhere{}, Logger: logr.FromSlogHandler(slog.DiscardHandler),
	})
	must(t, err)
	go h.pods.RunWithContext(ctx)
	go func() { _ = c.Run(ctx) }()
	go func() { _ = c.Lead(ctx) }()
	synctest.Wait()
	return c
}

func (p *podLoad) Evict(ctx context.Context, e taintmanager.Eviction) taintmanager.Outcome {
	p.went.Add(1)
	time.Sleep(time.Millisecond)
	if ctx.Err() == nil {
		p.pods.watch.Delete(podOn(e.Pod.Node, e.Pod.Name))
	}
	return taintmanager.Outcome{Kind: eviction.Accepted}
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
		c := gather(ctx, t, h)
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
		time.Sleep(400 * time.Second)
		synctest.Wait()
		evicting := cpu(t) - begin
		if went := c.went.Load(); went != int64(all) || c.Scheduled() != 0 {
			t.Errorf("%d pods went, %d are scheduled; want all %d gone", went, c.Scheduled(), all)
		}
		t.Logf("%d pods on %d nodes: %.2f s of CPU to judge all; %.0f us for each eviction; heap %d MB quiet, %d with all scheduled, %d after the taints were lifted",
			all, nodes, judged.Seconds(), float64(evicting.Microseconds())/float64(all), quiet>>20, scheduled>>20, lifted>>20)
		stop()
		synctest.Wait()
	})
}
