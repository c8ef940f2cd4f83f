package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// The sizes of the shared population, in nodes of 30 pods.
const (
	someNodes = 333
	manyNodes = 1000
)

const (
	settling      = 5 * time.Second // how long a subject is left alone before it counts as idle
	quietSpan     = 5 * time.Second // how long the processor time of an idle subject is measured
	statusUpdates = 5000
)

// atLeast ensures that the shared population has this number of nodes, with their pods.
func (w *world) atLeast(ctx context.Context, nodes int) error {
	missing := nodes - len(w.shared.nodes)
	if missing <= 0 {
		return nil
	}
	began := time.Now()
	if err := w.shared.grow(ctx, size{nodes: missing, each: podsEach}); err != nil {
		return err
	}
	w.say("there are %d pods; %d were made in %.0f s", len(w.shared.pods), missing*podsEach,
		time.Since(began).Seconds())
	return nil
}

// many ensures that the shared population has 30,000 pods.
func many(ctx context.Context, w *world) error { return w.atLeast(ctx, manyNodes) }

// memoryWork compares the memory of idle subjects that have listed the whole cluster.
func memoryWork() work {
	return work{
		name: "memory", title: "30,000 pods, nothing tainted", subjects: []string{report.Ours, report.Original},
		prepare: fewThenMany, measure: idleMemory,
		rows: []row{
			newRow("resident memory", "MB", memory, report.AtMost(0.2, report.Original)),
			newRow("for each pod after the first 10,000", "bytes", podMemory, report.AtMost(1000, "")),
		},
	}
}

// fewThenMany measures this build's memory with 10,000 pods, before it makes 30,000 of them.
func fewThenMany(ctx context.Context, w *world) error {
	if err := w.atLeast(ctx, someNodes); err != nil {
		return err
	}
	o, err := idleMemory(ctx, w, subject{name: report.Ours})
	if err != nil {
		return err
	}
	w.fewPods, w.fewMemory = len(w.shared.pods), o[memory]
	return many(ctx, w)
}

// idleMemory starts a subject, and reads its memory after it is ready and was left alone for a while.
func idleMemory(ctx context.Context, w *world, s subject) (outcome, error) {
	r, err := w.ready(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := load.Pause(ctx, settling); err != nil {
		return nil, err
	}
	now, most, err := load.Memory(r.Pid())
	if err != nil {
		return nil, err
	}
	o := outcome{memory: now, peak: most}
	if s.name == report.Ours && w.fewPods > 0 {
		o[podMemory] = (now - w.fewMemory) * 1e6 / float64(len(w.shared.pods)-w.fewPods)
	}
	return o, stop(r)
}

// statusWork compares the processor time of subjects for an update of a pod's status that changes no field that they
// use, with 30,000 pods cached.
func statusWork() work {
	return work{
		name: "status", title: "30,000 pods, 5000 updates of pods' status that change nothing",
		subjects: []string{report.Ours, report.Original}, prepare: many, measure: updates,
		rows: []row{newRow("processor time for each", "us", cpuEach, report.AtMost(1, report.Original))},
	}
}

// updates starts and stops a subject, and measures the cost of an update, without the subject's cost when idle. The
// subject is left alone for a while first. Otherwise the work after its start would count as its cost when idle.
func updates(ctx context.Context, w *world, s subject) (outcome, error) {
	r, err := w.ready(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := load.Pause(ctx, settling); err != nil {
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
	return outcome{cpuEach: busy / statusUpdates}, stop(r)
}

// cpuWhile returns the seconds of processor time that the subject uses while do runs.
func cpuWhile(c *testcluster.Component, do func() error) (float64, error) {
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

// touch updates the status of some pods, differently each time.
func (w *world) touch(ctx context.Context) error {
	apart := len(w.shared.pods) / statusUpdates
	err := load.Each(ctx, statusUpdates, func(ctx context.Context, i int) error {
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

// startWork compares the times from the start of the process to the first deletion, with 30,000 pods of which one is
// due before the start. Starts are short and differ much, so each round has three.
func startWork() work {
	return work{
		name: "start", title: "start with 30,000 pods, of which one is due", rounds: 3,
		subjects: []string{report.Ours, report.Original}, prepare: many, measure: start,
		rows: []row{newRow("process start to first deletion", "s", first, report.AtMost(0.75, report.Original))},
	}
}

func start(ctx context.Context, w *world, s subject) (outcome, error) {
	r, after, err := w.firstDeletion(ctx, s)
	if err != nil {
		return nil, err
	}
	return outcome{first: after.Seconds()}, stop(r)
}

// The bursts that scaleWork compares.
const small, middle, large = "3,000 pods", "9,000 pods", "30,000 pods"

// linear is the maximum ratio of the cost of a pod to its cost with a tenth of the pods.
const linear = 1.25

// scaleWork compares bursts of 3000, three times and ten times as many pods of the same population: the cost of a pod
// must stay the same. The smallest burst comes before the others and after them, and its mean counts, as machines
// drift.
func scaleWork() work {
	return work{
		name: "scale", title: "bursts of once, 3 times and 10 times as many pods, out of 45,000", judged: large,
		subjects: []string{small, middle, large}, once: []string{middle, large}, rounds: 2, fixed: true,
		prepare: func(ctx context.Context, w *world) error { return w.atLeast(ctx, 15*burstNodes) }, measure: scale,
		rows: []row{
			newRow("rate", "pods/s", rate, report.AtLeast(1/linear, small), report.Reported(middle)),
			newRow("processor time for a pod", "ms", cpuEach, report.AtMost(linear, small), report.Reported(middle)),
			newRow("the API server's and etcd's for a pod", "ms", serverCPU, report.Reported(small),
				report.Reported(middle)),
			newRow("peak memory", "MB", peak, report.Reported(small), report.Reported(middle)),
		},
	}
}

// scale measures a burst of the next part of the shared population, which has the size that the name says.
func scale(ctx context.Context, w *world, s subject) (outcome, error) {
	begin := w.evicted
	w.evicted += map[string]int{small: 1, middle: 3, large: 10}[s.name] * burstNodes
	part := &workload{
		w: w, name: w.shared.name, nodes: w.shared.nodes[begin:w.evicted],
		pods: w.shared.pods[begin*podsEach : w.evicted*podsEach],
	}
	return part.burst(ctx, subject{name: report.Ours})
}
