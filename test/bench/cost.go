package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

const (
	throttlePeriod = 100 * time.Millisecond
	overloadCores  = 0.5 // what an overloaded API server may use
)

// pausable is a process that can be stopped for a while.
type pausable interface {
	Pause() error
	Resume() error
}

// throttled calls do while the process runs for this share of the time only, as under a cgroup's quota. The
// process runs freely afterwards. Signals need neither privileges nor a certain version of cgroups.
func throttled(ctx context.Context, p pausable, share float64, do func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- throttle(ctx, p, share) }()
	err := do()
	cancel()
	return errors.Join(err, <-ended)
}

func throttle(ctx context.Context, p pausable, share float64) error {
	runs := time.Duration(share * float64(throttlePeriod))
	for ctx.Err() == nil {
		if err := p.Pause(); err != nil {
			return err
		}
		_ = load.Pause(ctx, throttlePeriod-runs) // the context may end: the process runs again in any case
		if err := p.Resume(); err != nil {
			return err
		}
		_ = load.Pause(ctx, runs)
	}
	return nil
}

// spent returns what the control plane, and a subject that has a component, have done so far.
func (w *world) spent(ctx context.Context, subject *testcluster.Component) (report.Outcome, error) {
	metrics, err := w.admin.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's metrics: %w", err)
	}
	o := requests(string(metrics))
	for f, c := range map[report.Figure]*testcluster.Component{
		serverCPU: w.Component(testcluster.APIServer), etcdCPU: w.Component(testcluster.Etcd), cpu: subject,
	} {
		if c == nil {
			continue
		}
		if o[f], err = load.ProcessorTime(c.Pid()); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// requests counts what the API server has answered, by its metrics. Watches are left out: they count only at their end.
func requests(metrics string) report.Outcome {
	const answered = "apiserver_request_total"
	return report.Outcome{
		calls:       load.Sum(metrics, answered) - load.Sum(metrics, answered, `verb="WATCH"`),
		eventWrites: load.Sum(metrics, answered, `resource="events"`, `verb="POST"`),
	}
}
