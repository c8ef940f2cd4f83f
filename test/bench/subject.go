package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

// process is a running subject.
type process interface {
	Pid() int
	Stop() error
}

// subject is a program to be measured or, if launch is nil, plain workers.
type subject struct {
	name   string
	launch func(ctx context.Context, w *world) (process, error)
	plain  call // of the plain workers
}

// originalOnce is the original with its default flags. It takes so long that it gets fewer pods, and one round.
func originalOnce() subject { return subject{name: report.OriginalDefault, launch: original()} }

func originalUnlimited() subject {
	return subject{name: report.Original, launch: original("--kube-api-qps=100000", "--kube-api-burst=100000")}
}

func original(flags ...string) func(context.Context, *world) (process, error) {
	return func(ctx context.Context, w *world) (process, error) { return w.LaunchOriginal(ctx, flags...) }
}

func ours(flags ...string) subject {
	return subject{name: report.Ours, launch: func(ctx context.Context, w *world) (process, error) {
		return w.LaunchManager(ctx, append([]string{"--leader-elect=false"}, flags...)...)
	}}
}

// otherBuild is another build of taint-manager.
func otherBuild(binary string, flags ...string) subject {
	return subject{name: report.OtherBuild, launch: func(ctx context.Context, w *world) (process, error) {
		return w.LaunchBuild(ctx, binary, append([]string{"--leader-elect=false"}, flags...)...)
	}}
}

func baseline(do call) subject { return subject{name: report.Baseline, plain: do} }

// compared returns the subjects of most works.
func compared() []subject {
	return []subject{baseline(load.PatchAndDelete), ours(), originalUnlimited()}
}

// launchAt launches a subject and returns when its process was started, by the kernel's record.
func (s subject) launchAt(ctx context.Context, w *world) (began time.Time, p process, err error) {
	if p, err = s.launch(ctx, w); err != nil {
		return began, nil, err
	}
	began, err = startOf(p.Pid())
	return began, p, err
}

// ready launches a subject, and returns when it has evicted a pod from a node that was tainted before: then it has
// seen the whole cluster.
func (w *world) ready(ctx context.Context, s subject) (process, error) {
	probe, err := w.newProbe(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.launch(ctx, w)
	if err != nil {
		return nil, err
	}
	if err := probe.gone(ctx); err != nil {
		return nil, fmt.Errorf("waiting for %s: %w", s.name, err)
	}
	// The original's client limits recover, and the work after its start ends.
	return p, load.Pause(ctx, 2*time.Second)
}

// probe is a pod that is due as soon as a subject observes it.
type probe struct {
	w    *world
	node string
	pod  load.Identity
}

func (w *world) newProbe(ctx context.Context) (*probe, error) {
	w.workloads++
	p := &probe{w: w, node: fmt.Sprintf("probe-%d", w.workloads)}
	if _, err := w.admin.CoreV1().Nodes().Create(ctx, load.ReadyNode(p.node), metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("making a node: %w", err)
	}
	if err := w.taintNode(ctx, p.node, nil); err != nil {
		return nil, fmt.Errorf("tainting a node: %w", err)
	}
	pod, err := w.admin.CoreV1().Pods(load.Namespace).Create(ctx,
		load.Pod(p.node, p.node, map[string]string{"app": "bench"}), metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("making a pod: %w", err)
	}
	p.pod = load.IdentityOf(pod)
	return p, nil
}

// gone waits until the pod is gone, and removes its node.
func (p *probe) gone(ctx context.Context) error {
	if _, err := p.w.waitFor(ctx, []load.Identity{p.pod}, time.Minute); err != nil {
		return err
	}
	return p.w.admin.CoreV1().Nodes().Delete(ctx, p.node, metav1.DeleteOptions{})
}
