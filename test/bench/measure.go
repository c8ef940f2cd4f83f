package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

const (
	burstNodes   = 100
	slowNodes    = 5    // for the built-in controller with its default client limits
	maxEvents    = 5000 // with more pods, events are not waited for: listing events is expensive
	burstTimeout = 5 * time.Minute

	idleSamples = 20
	idleWarmUp  = 2 // evictions that are not counted: they warm up connections
	idleGap     = 100 * time.Millisecond

	manyNodes = 1000 // of the shared population

	settling  = 5 * time.Second // how long a subject is left alone before it counts as idle
	quietSpan = 5 * time.Second // how long the processor time of an idle subject is measured
	updates   = 5000

	tolerated = 9 * time.Second // long enough to taint all nodes and to start taint-manager before the instant
)

// burstOf measures subjects with workloads of this size, which it creates and removes. The built-in controller with its
// default limits gets fewer pods, so only its rate can be compared.
func burstOf(l size) measurement {
	return func(ctx context.Context, w *world, s subject) (outcome, error) {
		l := l
		if s.name == builtinDefault {
			l.nodes = slowNodes
		}
		c, err := w.newWorkload(ctx, l)
		if err != nil {
			return nil, err
		}
		c.overloaded = l.overloaded
		o, err := c.burst(ctx, s)
		if err != nil {
			return nil, err
		}
		if s.name == builtinDefault {
			o = outcome{rate: o[rate]}
		}
		return o, c.clear(ctx)
	}
}

// burst measures the eviction of the workload's pods, which are tainted at once, by a subject that it starts and stops.
func (w *workload) burst(ctx context.Context, s subject) (outcome, error) {
	r, err := w.on.ready(ctx, s)
	if err != nil {
		return nil, err
	}
	before, err := w.on.spent(ctx)
	if err != nil {
		return nil, err
	}
	var times []time.Time
	began := time.Now()
	used, err := cpuWhile(r, func() error {
		times, err = w.evictLoaded(ctx, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	after, err := w.on.spent(ctx)
	if err != nil {
		return nil, err
	}
	o := outcomeOf(times, began)
	maps.Copy(o, after.since(before))
	o[eventShare] = o[eventWrites] / float64(len(w.pods))
	if r == nil {
		return o, nil
	}
	o[cpu], o[cpuEach] = used, 1e6*used/float64(len(w.pods))
	if _, o[peak], err = load.Memory(r.Pid()); err != nil {
		return nil, err
	}
	if (s.name == ours || s.name == otherBuild) && len(w.pods) <= maxEvents {
		stored, err := w.lastEvent(ctx)
		if err != nil {
			return nil, err
		}
		o[events] = stored.Sub(slices.MaxFunc(times, time.Time.Compare)).Seconds()
	}
	return o, stop(r)
}

// evictLoaded evicts while the API server is overloaded, if the workload asks for it.
func (w *workload) evictLoaded(ctx context.Context, s subject) (times []time.Time, err error) {
	if !w.overloaded {
		return w.evict(ctx, s)
	}
	share := overloadCores / float64(runtime.NumCPU())
	err = throttled(ctx, w.on.Component(testcluster.APIServer), share, func() error {
		times, err = w.evict(ctx, s)
		return err
	})
	return times, err
}

// evict taints all nodes; plain workers begin at the same time. It returns the time of each deletion.
func (w *workload) evict(ctx context.Context, s subject) ([]time.Time, error) {
	group, both := errgroup.WithContext(ctx)
	group.Go(func() error { return w.taint(both, nil) })
	group.Go(func() error { return w.plainly(both, s) })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return w.on.waitFor(ctx, w.pods)
}

// plainly evicts all pods if the subject is plain workers, which decide nothing. Their client is that of
// taint-manager's user.
func (w *workload) plainly(ctx context.Context, s subject) error {
	if !s.plain() {
		return nil
	}
	return load.Spread(ctx, load.PlainWorkers, len(w.pods), func(ctx context.Context, i int) error {
		return s.call(ctx, w.on.worker, w.pods[i])
	})
}

// cpuWhile returns the seconds of processor time that the subject uses while do runs; none for plain workers.
func cpuWhile(c *testcluster.Component, do func() error) (float64, error) {
	if c == nil {
		return 0, do()
	}
	before, err := load.ProcessorTime(c.Pid())
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := load.ProcessorTime(c.Pid())
	return after - before, err
}

// nextToHeld measures the eviction of pods next to those of another namespace, on the same nodes, whose deletions a
// webhook holds. The plain workers leave the other namespace's pods out: their times are those without the webhook.
func nextToHeld(ctx context.Context, w *world, s subject) (outcome, error) {
	l, err := w.newWorkload(ctx, size{nodes: 20, each: 15, namespace: "tenant", held: true})
	if err != nil {
		return nil, err
	}
	held := l.pods
	if err := l.fill(ctx, l.nodes, size{each: 5}); err != nil {
		return nil, err
	}
	hook := load.NewWebhook()
	defer hook.Close()
	if err := hook.Register(ctx, w.admin, held[0]); err != nil {
		return nil, err
	}
	others := *l
	others.pods = l.pods[len(held):]
	o, err := others.burst(ctx, s)
	if err != nil {
		return nil, err
	}
	hook.Release()
	if err := hook.Unregister(ctx, w.admin); err != nil {
		return nil, err
	}
	return o, l.clear(ctx)
}

// instant measures pods that are all due at one instant.
func instant(ctx context.Context, w *world, s subject) (outcome, error) {
	l, err := w.newWorkload(ctx, size{nodes: burstNodes, each: podsEach, tolerates: tolerated})
	if err != nil {
		return nil, err
	}
	begin := l.countdown
	if s.name == builtin {
		begin = l.builtinCountdown
	}
	at, r, err := begin(ctx, s)
	if err == nil {
		err = load.Pause(ctx, time.Until(at))
	}
	if err == nil {
		err = l.plainly(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	times, err := w.waitFor(ctx, l.pods)
	if err != nil {
		return nil, err
	}
	if err := stop(r); err != nil {
		return nil, err
	}
	return outcomeOf(times, at), l.clear(ctx)
}

// countdown taints the nodes and starts the subject. It returns the instant at which all pods are due, which is exact
// for taint-manager: the taints have the same timeAdded.
func (w *workload) countdown(ctx context.Context, s subject) (at time.Time, r *testcluster.Component, err error) {
	// The second of the taint must be later than the second in which the pods were created.
	if err := load.Pause(ctx, 1500*time.Millisecond); err != nil {
		return at, nil, err
	}
	since := time.Now().Truncate(time.Second)
	if err := w.taint(ctx, &metav1.Time{Time: since}); err != nil {
		return at, nil, err
	}
	// Times in the API are cut off: the taint counts from the next second, unless taint-manager observes it before.
	next := since.Add(time.Second)
	if err := load.Pause(ctx, time.Until(next)); err != nil {
		return at, nil, err
	}
	at = next.Add(tolerated)
	r, err = w.on.ready(ctx, s)
	if err == nil && time.Until(at) < time.Second {
		err = fmt.Errorf("%s was ready too late for the instant: this machine is too slow", s.name)
	}
	return at, r, err
}

// builtinCountdown starts the built-in controller and taints the nodes. The controller does not read timeAdded: the
// instant is the end of the last countdown, and pods of the nodes that were tainted first go a little earlier.
func (w *workload) builtinCountdown(
	ctx context.Context, s subject,
) (at time.Time, r *testcluster.Component, err error) {
	if r, err = w.on.ready(ctx, s); err != nil {
		return at, nil, err
	}
	err = w.taint(ctx, nil)
	return time.Now().Add(tolerated), r, err
}

// idle measures the evictions of several pods, one after the other, from the PATCH of the node's taint until the
// deletion is observed. A plain worker sends its requests as soon as the PATCH is answered.
func idle(ctx context.Context, w *world, s subject) (outcome, error) {
	l, err := w.newWorkload(ctx, size{nodes: idleWarmUp + idleSamples, each: 1})
	if err != nil {
		return nil, err
	}
	r, err := w.ready(ctx, s)
	if err != nil {
		return nil, err
	}
	var samples series
	for i := range l.nodes {
		took, err := l.one(ctx, s, i)
		if err != nil {
			return nil, err
		}
		samples = append(samples, 1e3*took.Seconds())
	}
	if err := stop(r); err != nil {
		return nil, err
	}
	return outcome{onePod: samples[idleWarmUp:].median()}, l.clear(ctx)
}

// one taints a node, and returns how long the eviction of its one pod took.
func (w *workload) one(ctx context.Context, s subject, i int) (time.Duration, error) {
	if err := load.Pause(ctx, idleGap); err != nil {
		return 0, err
	}
	one := *w
	one.nodes, one.pods = w.nodes[i:i+1], w.pods[i:i+1]
	began := time.Now()
	err := one.taint(ctx, nil)
	if err == nil {
		err = one.plainly(ctx, s)
	}
	if err != nil {
		return 0, err
	}
	times, err := w.on.waitFor(ctx, one.pods)
	if err != nil {
		return 0, err
	}
	return times[0].Sub(began), nil
}

// settled starts a subject on the shared population, and leaves it alone until the work after its start is over.
func (w *world) settled(ctx context.Context, s subject) (*testcluster.Component, error) {
	if err := w.atLeast(ctx, manyNodes); err != nil {
		return nil, err
	}
	r, err := w.ready(ctx, s)
	if err != nil {
		return nil, err
	}
	return r, load.Pause(ctx, settling)
}

// idleMemory measures the memory of a subject that has listed the whole cluster.
func idleMemory(ctx context.Context, w *world, s subject) (outcome, error) {
	r, err := w.settled(ctx, s)
	if err != nil {
		return nil, err
	}
	now, _, err := load.Memory(r.Pid())
	if err != nil {
		return nil, err
	}
	return outcome{memory: now}, stop(r)
}

// statusUpdates measures the processor time for an update of a pod's status that changes no field that subjects use,
// without the subject's cost when idle.
func statusUpdates(ctx context.Context, w *world, s subject) (outcome, error) {
	r, err := w.settled(ctx, s)
	if err != nil {
		return nil, err
	}
	idle, err := cpuWhile(r, func() error { return load.Pause(ctx, quietSpan) })
	if err != nil {
		return nil, err
	}
	began := time.Now()
	busy, err := cpuWhile(r, func() error {
		if err := w.touch(ctx); err != nil {
			return err
		}
		return load.Pause(ctx, time.Second/2) // the last updates arrive
	})
	if err != nil {
		return nil, err
	}
	busy -= idle * time.Since(began).Seconds() / quietSpan.Seconds()
	return outcome{cpuEach: 1e6 * busy / updates}, stop(r)
}

// touch updates the status of some pods, differently each time.
func (w *world) touch(ctx context.Context) error {
	apart := len(w.shared.pods) / updates
	err := load.Each(ctx, updates, func(ctx context.Context, i int) error {
		patch := fmt.Sprintf(`{"status":{"message":"update at %d"}}`, time.Now().UnixNano())
		pod := w.shared.pods[i*apart]
		_, err := w.admin.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch),
			metav1.PatchOptions{}, "status")
		return err
	})
	if err != nil {
		return fmt.Errorf("updating pods' status: %w", err)
	}
	return nil
}

// start measures the time from the start of the process to the first deletion.
func start(ctx context.Context, w *world, s subject) (outcome, error) {
	if err := w.atLeast(ctx, manyNodes); err != nil {
		return nil, err
	}
	r, after, err := w.firstDeletion(ctx, s)
	if err != nil {
		return nil, err
	}
	return outcome{starting: after.Seconds()}, stop(r)
}
