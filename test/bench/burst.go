package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

const (
	burstNodes   = 100
	slowNodes    = 5    // for the original with its default client limits
	maxEvents    = 5000 // of more pods than these, events are not waited for: listing events is expensive
	burstTimeout = 5 * time.Minute
	late         = 1.15 // the maximum ratio of a latency to the baseline's
)

// burstWork compares pods of many nodes that are tainted at once.
func burstWork() work {
	return work{
		name: "burst", title: "3000 pods of 100 nodes at once",
		subjects: append(compared(), report.OriginalDefault), once: []string{report.OriginalDefault},
		measure: bursts(size{nodes: burstNodes, each: podsEach}),
		rows: []row{
			newRow("rate", "pods/s", rate, report.AtLeast(0.9, report.Baseline),
				report.AtLeast(1.3, report.Original), report.AtLeast(30, report.OriginalDefault)),
			newRow("taint to deletion, median", "s", median, report.AtMost(late, report.Baseline),
				report.Reported(report.Original)),
			newRow("taint to deletion, 99th percentile", "s", p99, report.AtMost(late, report.Baseline),
				report.Reported(report.Original)),
			newRow("last deletion to last event stored", "s", events, report.AtMost(30, "")),
			newRow("processor time", "s", cpu, report.Reported(report.Original)),
			newRow("the API server's and etcd's for a pod", "ms", serverCPU, report.Reported(report.Original)),
			newRow("peak memory", "MB", peak, report.Reported(report.Original)),
		},
	}
}

// evictWork compares bursts by the eviction subresource, one call for each pod, which sets the condition itself. The
// pods are Running, so that the API server looks for budgets.
func evictWork() work {
	return work{
		name: "evict", title: "3000 Running pods of 100 nodes, --eviction-method=evict", evict: true,
		subjects: []string{report.Baseline, report.Ours},
		measure:  bursts(size{nodes: burstNodes, each: podsEach, running: true}),
		rows: []row{
			newRow("rate", "pods/s", rate, report.AtLeast(0.9, report.Baseline)),
			newRow("taint to deletion, median", "s", median, report.Reported(report.Baseline)),
		},
	}
}

// namespacesWork compares bursts of pods of many namespaces and nodes. A GET of a node should serve several of the
// node's pods although namespaces take turns.
func namespacesWork() work {
	l := size{nodes: 300, each: 10}
	for i := range 50 {
		l.namespaces = append(l.namespaces, fmt.Sprintf("team-%d", i))
	}
	return work{
		name: "namespaces", title: "3000 pods of 50 namespaces on 300 nodes at once", subjects: compared(),
		measure: bursts(l),
		rows: []row{
			newRow("rate", "pods/s", rate, report.AtLeast(0.9, report.Baseline), report.Reported(report.Original)),
			newRow("requests for nodes, for a pod", "GETs", reads, report.AtMost(0.5, "")),
		},
	}
}

// bursts measures subjects with workloads of this size, which it creates and removes. The original with its default
// limits gets fewer pods, so only its rate can be compared.
func bursts(l size) measurement {
	return func(ctx context.Context, w *world, s subject) (outcome, error) {
		l := l
		if s.name == report.OriginalDefault {
			l.nodes = slowNodes
		}
		c, err := w.newWorkload(ctx, l)
		if err != nil {
			return nil, err
		}
		o, err := c.burst(ctx, s)
		if err != nil {
			return nil, err
		}
		if s.name == report.OriginalDefault {
			o = outcome{rate: o[rate]}
		}
		return o, c.clear(ctx)
	}
}

// burst measures one subject with this workload.
func (w *workload) burst(ctx context.Context, s subject) (outcome, error) {
	r, err := w.w.ready(ctx, s)
	if err != nil {
		return nil, err
	}
	before, err := w.w.spent(ctx, r)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	times, err := w.evict(ctx, s)
	if err != nil {
		return nil, err
	}
	after, err := w.w.spent(ctx, r)
	if err != nil {
		return nil, err
	}
	o, pods := outcomeOf(times, began), float64(len(w.pods))
	o[serverCPU] = (after[serverCPU] - before[serverCPU]) / pods
	o[reads] = (after[reads] - before[reads]) / pods
	if s.plain() {
		return o, nil
	}
	o[cpu], o[peak] = after[cpu]-before[cpu], after[peak]
	o[cpuEach] = o[cpu] / pods
	if s.name != report.Original && s.name != report.OriginalDefault && len(w.pods) <= maxEvents {
		stored, err := w.lastEvent(ctx)
		if err != nil {
			return nil, err
		}
		o[events] = stored.Sub(slices.MaxFunc(times, time.Time.Compare)).Seconds()
	}
	return o, stop(r)
}

// evict taints all nodes; plain workers begin at the same time. It returns when each pod was deleted.
func (w *workload) evict(ctx context.Context, s subject) ([]time.Time, error) {
	group, both := errgroup.WithContext(ctx)
	group.Go(func() error { return w.taint(both, nil) })
	if s.plain() {
		group.Go(func() error { return w.plainly(both, s) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return w.w.waitFor(ctx, w.pods, burstTimeout)
}

// plainly evicts all pods, with workers that decide nothing. Their client is that of taint-manager's user.
func (w *workload) plainly(ctx context.Context, s subject) error {
	return load.Spread(ctx, load.PlainWorkers, len(w.pods), func(ctx context.Context, i int) error {
		return s.call(ctx, w.w.worker, w.pods[i])
	})
}

// spent returns the processor time, the GETs of nodes and the peak memory so far.
func (w *world) spent(ctx context.Context, r *testcluster.Component) (outcome, error) {
	server, err1 := load.ProcessorTime(w.Component(testcluster.APIServer).Pid())
	etcd, err2 := load.ProcessorTime(w.Component(testcluster.Etcd).Pid())
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	metrics, err := w.admin.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	o := outcome{
		serverCPU: server + etcd,
		reads:     load.Sum(string(metrics), "apiserver_request_total", `resource="nodes"`, `verb="GET"`),
	}
	if r == nil {
		return o, nil
	}
	if o[cpu], err = load.ProcessorTime(r.Pid()); err != nil {
		return nil, err
	}
	_, o[peak], err = load.Memory(r.Pid())
	return o, err
}

// webhookWork compares pods while a webhook holds the deletions of another namespace's pods, which are due at the same
// time. The plain workers leave the other namespace's pods out: their times are those without the webhook.
func webhookWork() work {
	return work{
		name: "webhook", title: "100 pods due with 300 of another namespace that a webhook holds for 30 s",
		subjects: compared(), measure: besideHeld,
		rows: []row{
			newRow("taint to deletion, median", "s", median, report.AtMost(0.5, ""), report.Reported(report.Baseline),
				report.Reported(report.Original)),
			newRow("taint to last deletion", "s", last, report.AtMost(2, ""), report.Reported(report.Baseline),
				report.Reported(report.Original)),
		},
	}
}

// besideHeld measures the eviction of pods beside others, on the same nodes, whose deletions a webhook holds.
func besideHeld(ctx context.Context, w *world, s subject) (o outcome, err error) {
	l, err := w.newWorkload(ctx, size{nodes: 20, each: 15, namespaces: []string{"tenant"}, held: true})
	if err != nil {
		return nil, err
	}
	held := l.pods
	if err := l.fill(ctx, l.nodes, size{each: 5}); err != nil {
		return nil, err
	}
	hook := load.NewWebhook()
	defer hook.Close()
	if err := hook.Register(ctx, w.admin, false); err != nil {
		return nil, err
	}
	if err := hook.AwaitInForce(ctx, w.admin, held[0].Namespace, held[0].Name); err != nil {
		return nil, err
	}
	others := *l
	others.pods = l.pods[len(held):]
	if o, err = others.burst(ctx, s); err != nil {
		return nil, err
	}
	hook.Release()
	if err := hook.Unregister(ctx, w.admin); err != nil {
		return nil, err
	}
	return o, l.clear(ctx)
}
