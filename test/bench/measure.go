package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

const (
	burstNodes   = 100
	podsEach     = 30 // on a node of most crowds
	slowNodes    = 5  // for the built-in controller with its default client limits
	burstTimeout = 5 * time.Minute

	idleSamples = 20
	idleWarmUp  = 2 // evictions that are not counted: they warm up connections
	idleGap     = 400 * time.Millisecond

	manyNodes = 1000 // of the population

	settling  = 5 * time.Second // how long a subject is left alone before it counts as idle
	quietSpan = 5 * time.Second // how long the processor time of an idle subject is measured
	updates   = 5000

	tolerated = 9 * time.Second // long enough to taint all nodes and to start taint-manager before the instant
)

// tainted is the taint of all nodes.
var tainted = v1.Taint{Key: "bench", Effect: v1.TaintEffectNoExecute}

// burst measures the eviction of pods whose nodes are tainted at once. The built-in controller with its default limits
// gets fewer pods, so only its rate can be compared. While the API server is overloaded, it may use half a core only.
func burst(running, overloaded bool) measurement {
	return func(ctx context.Context, w *world, s subject) (report.Outcome, error) {
		nodes := burstNodes
		if s.name == builtinDefault {
			nodes = slowNodes
		}
		c, err := w.newCrowd(ctx, nodes, podsEach, unchanged)
		if err == nil && running {
			const status = `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
			err = w.setStatus(ctx, c.Pods, status)
		}
		if err != nil {
			return nil, err
		}
		o, err := w.burst(ctx, c, s, overloaded)
		if err != nil {
			return nil, err
		}
		if s.name == builtinDefault {
			o = report.Outcome{rate: o[rate]}
		}
		return o, c.Remove(ctx)
	}
}

// burst measures the eviction of a crowd by a subject that it starts and stops.
func (w *world) burst(ctx context.Context, c *load.Crowd, s subject, overloaded bool) (report.Outcome, error) {
	r, _, err := w.ready(ctx, s)
	if err != nil {
		return nil, err
	}
	before, err := w.spent(ctx, r)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	times, err := w.evict(ctx, c, s, overloaded)
	if err != nil {
		return nil, err
	}
	o, err := w.spent(ctx, r)
	if err != nil {
		return nil, err
	}
	for f := range o {
		o[f] -= before[f]
	}
	maps.Copy(o, outcomeOf(times, began))
	o[eventShare] = o[eventWrites] / float64(len(c.Pods))
	if r == nil {
		return o, nil
	}
	if _, o[peak], err = load.Memory(r.Pid()); err != nil {
		return nil, err
	}
	if s.name == ours || s.name == otherBuild {
		described := func(ctx context.Context) (bool, error) {
			n, err := c.Described(ctx)
			return n == len(c.Pods), err
		}
		err := load.Until(ctx, "an event about each pod", 300*time.Millisecond, time.Minute, described)
		if err != nil {
			return nil, err
		}
		o[events] = time.Since(slices.MaxFunc(times, time.Time.Compare)).Seconds()
	}
	return o, stop(r)
}

// evict taints all nodes; plain workers begin at the same time. It returns the time of each deletion.
func (w *world) evict(
	ctx context.Context, c *load.Crowd, s subject, overloaded bool,
) (times []time.Time, err error) {
	do := func() error {
		group, both := errgroup.WithContext(ctx)
		group.Go(func() error { return c.Taint(both, tainted) })
		group.Go(func() error { return w.plainly(both, s, c.Pods) })
		if err := group.Wait(); err != nil {
			return err
		}
		times, err = w.waitFor(ctx, c.Pods)
		return err
	}
	if overloaded {
		err = throttled(ctx, w.Component(testcluster.APIServer), overloadCores/float64(runtime.NumCPU()), do)
	} else {
		err = do()
	}
	return times, err
}

// instant measures pods that are all due at one instant, which is exact for taint-manager: the taints have the same
// timeAdded. The built-in controller does not read that: its countdowns begin when it sees the taints.
func instant(ctx context.Context, w *world, s subject) (report.Outcome, error) {
	c, err := w.newCrowd(ctx, burstNodes, podsEach, func(p *v1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{
			Key: tainted.Key, Operator: v1.TolerationOpExists, Effect: tainted.Effect,
			TolerationSeconds: new(int64(tolerated.Seconds())),
		})
	})
	if err != nil {
		return nil, err
	}
	// The second of the taint must be later than the second in which the pods were created.
	if err := load.Pause(ctx, 1500*time.Millisecond); err != nil {
		return nil, err
	}
	since := tainted
	since.TimeAdded = &metav1.Time{Time: time.Now().Truncate(time.Second)}
	if err := c.Taint(ctx, since); err != nil {
		return nil, err
	}
	// Times in the API are cut off: the taint counts from the next second, unless taint-manager observes it before.
	next := since.TimeAdded.Add(time.Second)
	if err := load.Pause(ctx, time.Until(next)); err != nil {
		return nil, err
	}
	r, seen, err := w.ready(ctx, s)
	at := next.Add(tolerated)
	if s.name == builtin {
		at = seen.Add(tolerated)
	}
	if err == nil && time.Until(at) < time.Second {
		err = fmt.Errorf("%s was ready too late for the instant: this machine is too slow", s.name)
	}
	if err == nil {
		err = load.Pause(ctx, time.Until(at))
	}
	if err == nil {
		err = w.plainly(ctx, s, c.Pods)
	}
	if err != nil {
		return nil, err
	}
	times, err := w.waitFor(ctx, c.Pods)
	if err != nil {
		return nil, err
	}
	if err := stop(r); err != nil {
		return nil, err
	}
	return outcomeOf(times, at), c.Remove(ctx)
}

// idle measures the evictions of several pods, one after the other, from the PATCH of the node's taint until the
// deletion is observed. A plain worker sends its requests as soon as the PATCH is answered.
func idle(ctx context.Context, w *world, s subject) (report.Outcome, error) {
	c, err := w.newCrowd(ctx, idleWarmUp+idleSamples, 1, unchanged)
	if err != nil {
		return nil, err
	}
	r, _, err := w.ready(ctx, s)
	if err != nil {
		return nil, err
	}
	var samples report.Series
	for i, pod := range c.Pods {
		if err := load.Pause(ctx, idleGap); err != nil {
			return nil, err
		}
		began := time.Now()
		err := load.SetTaints(ctx, w.admin, c.Nodes[i], tainted)
		if err == nil {
			err = w.plainly(ctx, s, []load.Identity{pod})
		}
		if err != nil {
			return nil, err
		}
		times, err := w.waitFor(ctx, []load.Identity{pod})
		if err != nil {
			return nil, err
		}
		samples = append(samples, 1e3*times[0].Sub(began).Seconds())
	}
	if err := stop(r); err != nil {
		return nil, err
	}
	return report.Outcome{onePod: samples[idleWarmUp:].Median()}, c.Remove(ctx)
}

// population measures a subject in a cluster of 30,000 pods: the time from the start of its process to the deletion of
// a pod that is due, its memory when it is idle, and what an update of a pod's status costs it that changes no field
// that subjects use.
func population(ctx context.Context, w *world, s subject) (o report.Outcome, err error) {
	if w.population == nil {
		if w.population, err = w.newCrowd(ctx, manyNodes, podsEach, unchanged); err != nil {
			return nil, err
		}
	}
	r, at, err := w.ready(ctx, s)
	if err != nil {
		return nil, err
	}
	o = report.Outcome{starting: at.Sub(r.Started()).Seconds()}
	if err := load.Pause(ctx, settling); err != nil {
		return nil, err
	}
	if o[memory], _, err = load.Memory(r.Pid()); err != nil {
		return nil, err
	}
	if o[cpuEach], err = w.updateCost(ctx, r); err != nil {
		return nil, err
	}
	return o, stop(r)
}

// updateCost returns the processor time for one of many updates, in µs, without the subject's cost when idle.
func (w *world) updateCost(ctx context.Context, r *testcluster.Component) (float64, error) {
	idle, err := load.ProcessorTimeOf(r.Pid(), func() error { return load.Pause(ctx, quietSpan) })
	if err != nil {
		return 0, err
	}
	var touched []load.Identity // all over the population
	for i := range updates {
		touched = append(touched, w.population.Pods[i*len(w.population.Pods)/updates])
	}
	began := time.Now()
	busy, err := load.ProcessorTimeOf(r.Pid(), func() error {
		patch := fmt.Sprintf(`{"status":{"message":"update at %d"}}`, began.UnixNano()) // another one each time
		if err := w.setStatus(ctx, touched, patch); err != nil {
			return err
		}
		return load.Pause(ctx, time.Second/2) // the last updates arrive
	})
	return 1e6 * (busy - idle*time.Since(began).Seconds()/quietSpan.Seconds()) / updates, err
}

func (w *world) setStatus(ctx context.Context, pods []load.Identity, patch string) error {
	return load.Each(ctx, "updating pods' status", len(pods), func(ctx context.Context, i int) error {
		_, err := w.admin.CoreV1().Pods(pods[i].Namespace).Patch(ctx, pods[i].Name, types.MergePatchType, []byte(patch),
			metav1.PatchOptions{}, "status")
		return err
	})
}
