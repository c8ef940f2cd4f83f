package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// subject is a program to be measured. The subject with the name of the baseline is plain workers.
type subject struct {
	name  string
	evict bool // by the eviction subresource
}

func (s subject) plain() bool { return s.name == report.Baseline }

// call evicts one pod, as plain workers do.
func (s subject) call(ctx context.Context, client kubernetes.Interface, pod load.Identity) error {
	do := load.PatchAndDelete
	if s.evict {
		do = load.Evict
	}
	if err := do(ctx, client, pod); err != nil {
		return fmt.Errorf("a plain worker: pod %s: %w", pod.Name, err)
	}
	return nil
}

// running is a subject that has been started. Plain workers have no component.
type running struct{ component *testcluster.Component }

func (r running) pid() int {
	if r.component == nil {
		return 0
	}
	return r.component.Pid()
}

func (r running) stop() error {
	if r.component == nil {
		return nil
	}
	return r.component.Stop()
}

// launch starts a subject, and does not wait until it is ready.
func (w *world) launch(ctx context.Context, s subject) (r running, err error) {
	flags, binary := []string{"--leader-elect=false"}, ""
	if s.evict {
		flags = append(flags, "--eviction-method=evict")
	}
	switch s.name {
	case report.Original:
		r.component, err = w.LaunchOriginal(ctx, "--kube-api-qps=100000", "--kube-api-burst=100000")
		return r, err
	case report.OriginalDefault:
		r.component, err = w.LaunchOriginal(ctx)
		return r, err
	case report.OtherBuild:
		binary = w.against
	}
	m, err := w.LaunchBuild(ctx, binary, flags...)
	if err != nil {
		return r, err
	}
	return running{m.Component}, nil
}

// ready launches a subject, and returns when the subject has evicted a pod from a node that was tainted before: then
// the subject has observed the whole cluster. Plain workers need no start.
func (w *world) ready(ctx context.Context, s subject) (running, error) {
	if s.plain() {
		return running{}, nil
	}
	r, _, err := w.firstDeletion(ctx, s)
	if err != nil {
		return r, err
	}
	// The original's client limits recover, and the work after its start ends.
	return r, load.Pause(ctx, 2*time.Second)
}

// firstDeletion launches a subject beside a pod that is due. It returns the time from the start of the subject's
// process to the deletion of the pod.
func (w *world) firstDeletion(ctx context.Context, s subject) (r running, after time.Duration, err error) {
	probe, err := w.newWorkload(ctx, size{nodes: 1})
	if err != nil {
		return r, 0, err
	}
	if err := probe.taint(ctx, nil); err != nil {
		return r, 0, err
	}
	if err := probe.fill(ctx, probe.nodes, size{each: 1}); err != nil {
		return r, 0, err
	}
	if r, err = w.launch(ctx, s); err != nil {
		return r, 0, err
	}
	times, err := w.waitFor(ctx, probe.pods, time.Minute)
	if err != nil {
		return r, 0, fmt.Errorf("waiting for %s: %w", s.name, err)
	}
	err = w.admin.CoreV1().Nodes().Delete(ctx, probe.nodes[0], metav1.DeleteOptions{})
	return r, times[0].Sub(r.component.Started()), err
}
