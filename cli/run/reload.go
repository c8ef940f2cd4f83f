package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/truncate"
	"github.com/taint-manager/taint-manager/policy"
)

const (
	readEvery    = 2 * time.Second  // between two readings of the configuration file
	readTimeout  = 5 * time.Second  // for all reads that show whether permissions are missing
	applyTimeout = 30 * time.Second // for SetPolicies, which may list namespaces
	retryAfter   = 30 * time.Second // after a valid file could not be applied: permissions may have been granted since
	eventTimeout = 5 * time.Second  // for writing one event
)

// reloader applies changes of the configuration file while the process runs: the whole file or nothing.
type reloader struct {
	setPolicies  func(context.Context, taintmanager.Policies) (policy.Diff, error)
	idleBreakers func() []string
	event        func(ctx context.Context, message string) // reports a refused file; nil: no events
	client       kubernetes.Interface
	metrics      *configMetrics

	started    *settings // with which the process has started
	current    *settings // the settings in force
	latest     []byte    // the latest reading
	considered []byte    // the latest content that was applied or rejected
	retry      time.Time // when to apply the same content again; zero: never

	trouble atomic.Pointer[error] // why the file is not in force as a whole
}

// run reads the file until the context ends.
func (r *reloader) run(ctx context.Context) {
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.read(ctx)
		}
	}
}

// read reads the configuration file and the file that pauses evictions. A new configuration is used only after two
// identical reads, because somebody may be writing the file.
func (r *reloader) read(ctx context.Context) {
	pausedByFile := pauseFileSet(r.started.configFile, r.current.pausedByFile)
	if pausedByFile {
		r.setPausedByFile(ctx, pausedByFile)
	}
	content, err := readConfigFile(r.started.configFile, nil)
	if err != nil {
		content = []byte(err.Error())
	}
	if !bytes.Equal(content, r.latest) {
		r.latest = content
		return
	}
	changed := !bytes.Equal(content, r.considered)
	if changed || !r.retry.IsZero() && !time.Now().Before(r.retry) {
		r.consider(ctx, content, err, changed)
	}
	r.setPausedByFile(ctx, pausedByFile) // after the configuration file, which may itself set paused
}

// consider applies or rejects the content of the file. unreadable says why there is none.
func (r *reloader) consider(ctx context.Context, content []byte, unreadable error, changed bool) {
	next, err := r.started, unreadable
	if err == nil {
		next, err = r.started.withFile(content)
	}
	valid := err == nil
	if valid {
		next.pausedByFile = r.current.pausedByFile
		err = r.forbidden(ctx, next)
	}
	starts := err == nil
	if starts {
		err = r.apply(ctx, next, "The configuration file has changed and is in force")
	}
	if ctx.Err() != nil {
		return
	}
	r.considered, r.retry = content, time.Time{}
	if err == nil {
		r.accept(ctx, next)
		return
	}
	if valid {
		r.retry = time.Now().Add(retryAfter)
	}
	r.refuse(ctx, err, starts, changed)
}

// forbidden returns an error if the API server forbids a read that these settings require. If the API server does not
// answer, it returns nil, and setPolicies or [taintmanager.Manager.Trouble] reports the problem.
func (r *reloader) forbidden(ctx context.Context, next *settings) error {
	bounded, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	forbidden, _ := next.tryReads(bounded, r.client)
	return forbidden
}

// apply gives the manager the settings that it can apply without a restart, and logs what has changed.
func (r *reloader) apply(ctx context.Context, next *settings, what string) error {
	bounded, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	diff, err := r.setPolicies(bounded, taintmanager.Policies{
		Policies: next.Policies, Guards: next.Guards, Method: next.Eviction.Method, Rules: next.Policy().Rules,
		Paused: next.paused(), Workers: next.Eviction.Workers,
	})
	if err != nil {
		return err
	}
	r.current = next
	klog.FromContext(ctx).Info(what, "configFile", next.configFile, "policies", len(next.Policies),
		"rates", len(next.Guards.Rates), "breakers", len(next.Guards.Breakers), "paused", next.paused(),
		"podsCompared", diff.Pods, "podsDue", diff.Due, "podsEarlier", diff.Earlier, "podsLater", diff.Later,
		"podsHeld", diff.Held, "podsFree", diff.Free)
	return nil
}

// accept reports that the file is in force, except for fields that require a restart.
func (r *reloader) accept(ctx context.Context, next *settings) {
	var trouble error
	if fields := r.started.needRestart(next); len(fields) > 0 {
		trouble = fmt.Errorf("changed fields that require a restart: %d", len(fields))
		klog.FromContext(ctx).Info("Changes in the configuration file require a restart", "configFile",
			next.configFile, "fields", fields)
	}
	r.trouble.Store(&trouble)
	r.metrics.reloads.WithLabelValues(resultAccepted).Inc()
	r.metrics.inForce(next)
	next.warn(klog.FromContext(ctx))
	warnOfIdleBreakers(ctx, r.idleBreakers())
}

// refuse reports that the file is not in force, and whether a process with it would start. It logs, writes an event and
// counts only if the file has changed.
func (r *reloader) refuse(ctx context.Context, cause error, starts, changed bool) {
	const refused = "is refused, and the last accepted one stays in force"
	trouble := errors.New("the file " + refused + "; see the log for the reason")
	if !starts {
		trouble = errors.New("the file " + refused + "; taint-manager would not start with it; see the log for the reason")
	}
	r.trouble.Store(&trouble)
	if !changed {
		return
	}
	r.metrics.refused.Set(1)
	r.metrics.reloads.WithLabelValues(resultRefused).Inc()
	klog.FromContext(ctx).Error(cause, "The configuration file "+refused, "configFile", r.started.configFile,
		"restartWouldStart", starts)
	if r.event != nil {
		r.event(ctx, fmt.Sprintf("The configuration file %s %s: %v", r.started.configFile, refused, cause))
	}
}

// Trouble returns nil if the configuration file is in force as a whole; otherwise it returns the consequence of its
// refusal, or how many of its fields need a restart. It names nothing of the file, so that it may be shown to
// everybody; the log does. A nil reloader follows no file.
func (r *reloader) Trouble() error {
	if r == nil {
		return nil
	}
	if trouble := r.trouble.Load(); trouble != nil {
		return *trouble
	}
	return nil
}

// leaseEvents returns a function that writes a warning as an event of the lease. It returns nil in a dry run, which
// writes nothing, and without leader election, as there is no lease.
func leaseEvents(
	client kubernetes.Interface, c config.Configuration, identity string,
) func(ctx context.Context, message string) {
	lease := v1.ObjectReference{
		APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: c.LeaderElection.ResourceNamespace,
		Name: c.LeaderElection.ResourceName,
	}
	if c.DryRun || !c.LeaderElection.LeaderElect {
		return nil
	}
	return func(ctx context.Context, message string) {
		ctx, cancel := context.WithTimeout(ctx, eventTimeout)
		defer cancel()
		now := metav1.Now()
		_, err := client.CoreV1().Events(lease.Namespace).Create(ctx, &v1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: lease.Namespace, GenerateName: lease.Name + "."},
			InvolvedObject: lease, Type: v1.EventTypeWarning, Reason: "ConfigurationRefused",
			Message: truncate.Text(identity + ": " + message), FirstTimestamp: now, LastTimestamp: now, Count: 1,
			Source:              v1.EventSource{Component: "taint-manager", Host: identity},
			ReportingController: "taint-manager", ReportingInstance: identity,
		}, metav1.CreateOptions{})
		if err != nil {
			klog.FromContext(ctx).Error(err, "The event about the configuration file was not written")
		}
	}
}
