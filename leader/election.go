package leader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	componentbaseconfig "k8s.io/component-base/config"
	"k8s.io/klog/v2"
)

const (
	late       = 20 * time.Second // after the end of its lease a leader that has not noticed the end is unhealthy
	maxRelease = 5 * time.Second  // for the release of the lease
)

// Election campaigns for one lease, term after term. Any goroutine may call its methods, but only one may call
// [Election.Campaign].
type Election struct {
	settings componentbaseconfig.LeaderElectionConfiguration
	lock     *Lock
	watchdog *leaderelection.HealthzAdaptor

	// elector belongs to the current term or candidacy; nil while this process is no candidate.
	elector atomic.Pointer[leaderelection.LeaderElector]

	// term has room for one lead function, because an elector does not wait for the function that it has started.
	term chan struct{}
}

// Defaults returns the lease and the times that the program taint-manager uses unless they are set.
func Defaults() componentbaseconfig.LeaderElectionConfiguration {
	return componentbaseconfig.LeaderElectionConfiguration{
		LeaderElect:       true,
		LeaseDuration:     metav1.Duration{Duration: 15 * time.Second},
		RenewDeadline:     metav1.Duration{Duration: 10 * time.Second},
		RetryPeriod:       metav1.Duration{Duration: 2 * time.Second},
		ResourceLock:      resourcelock.LeasesResourceLock,
		ResourceName:      "taint-manager",
		ResourceNamespace: "kube-system",
	}
}

// New returns an election for the lease with these settings; see [Defaults]. identity must be unique among the
// candidates; see [NewIdentity]. The client should have its own connections, so that no renewal waits behind other
// calls.
func New(
	settings componentbaseconfig.LeaderElectionConfiguration, leases coordinationv1.LeasesGetter, identity string,
) *Election {
	lease := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: settings.ResourceNamespace, Name: settings.ResourceName},
		Client:     leases,
		LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
	}
	return &Election{
		settings: settings,
		lock:     NewLock(lease, settings.LeaseDuration.Duration),
		watchdog: leaderelection.NewLeaderHealthzAdaptor(late),
		term:     make(chan struct{}, 1),
	}
}

// NewIdentity returns a unique identity that begins with the pod's name: the environment variable POD_NAME, which the
// manifests set, or else the host's name. On the network of its node a pod has the node's host name.
func NewIdentity() (string, error) {
	name := os.Getenv("POD_NAME")
	if name == "" {
		host, err := os.Hostname()
		if err != nil {
			return "", fmt.Errorf("asking for the host's name: %w", err)
		}
		name = host
	}
	return name + "_" + string(uuid.NewUUID()), nil
}

// Leading reports whether this process leads by its own clock: while it does, no other candidate can have taken the
// lease. It does not block. The elector's own clock is not sufficient: it measures from the response to a renewal, or
// from reading the lease, while the other candidates measure from the write.
func (e *Election) Leading() bool {
	elector := e.elector.Load()
	return elector != nil && elector.IsLeader() && e.lock.Fresh(e.settings.RenewDeadline.Duration) &&
		!e.lock.now().Before(e.lock.OthersUntil())
}

// Identity returns the identity under which this process is a candidate.
func (e *Election) Identity() string { return e.lock.Identity() }

// Leader returns the identity of the last leader that this process has seen; empty before it has seen any leader, and
// while the lease has no record.
func (e *Election) Leader() string {
	elector := e.elector.Load()
	if elector == nil {
		return ""
	}
	return elector.GetLeader()
}

// Watchdog returns a health check that fails once this process should have noticed long ago that its lease has ended.
func (e *Election) Watchdog() *leaderelection.HealthzAdaptor { return e.watchdog }

// Campaign calls lead whenever this process holds the lease and no other holder may lead any more, one call at a time,
// until ctx ends; then it releases the lease. The context of a call ends with its term. Losing the lease is not an
// error: the process becomes a candidate again. If lead returns an error during its term, Campaign ends and returns it.
func (e *Election) Campaign(ctx context.Context, lead func(context.Context) error) error {
	defer e.release(ctx)
	for ctx.Err() == nil {
		if err := e.runTerm(ctx, lead); err != nil {
			return err
		}
		if ctx.Err() == nil {
			klog.FromContext(ctx).Info("Lost the leadership, standing by", "lease", e.lock.Describe())
		}
	}
	return nil
}

// release releases the lease if this process still holds it. After a failure, the other candidates wait for the
// lease's duration. Electors do not release the lease: if the API server does not
// respond, an elector would wait for RenewDeadline at the end of the process.
func (e *Election) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(e.settings.RenewDeadline.Duration/2, maxRelease))
	defer cancel()
	// A renewal in flight may cause a conflict.
	err := retry.OnError(retry.DefaultRetry, func(error) bool { return ctx.Err() == nil },
		func() error { return e.lock.release(ctx) })
	if err != nil {
		klog.FromContext(ctx).Error(err, "The lease may be left held until it ends", "lease", e.lock.Describe())
	}
}

// runTerm runs an elector until its term or its candidacy ends. It returns the error with which leadTerm ended the term.
func (e *Election) runTerm(campaign context.Context, lead func(context.Context) error) error {
	ctx, resign := context.WithCancelCause(campaign)
	defer resign(nil)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: e.settings.ResourceName, Lock: e.lock,
		LeaseDuration: e.settings.LeaseDuration.Duration, RenewDeadline: e.settings.RenewDeadline.Duration,
		RetryPeriod: e.settings.RetryPeriod.Duration,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(term context.Context) {
				if err := e.leadTerm(term, lead); err != nil {
					resign(err)
				}
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(identity string) {
				klog.FromContext(ctx).Info("Seen a leader", "identity", identity, "self", identity == e.lock.Identity())
			},
		},
	})
	if err != nil {
		return fmt.Errorf("setting up the leader election: %w", err)
	}
	e.elector.Store(elector)
	defer e.elector.Store(nil)
	e.watchdog.SetLeaderElection(elector)
	elector.Run(ctx)
	if cause := context.Cause(ctx); !errors.Is(cause, context.Cause(campaign)) {
		return cause
	}
	return nil
}

// leadTerm leads once the previous term of this process is over, and no other holder may lead any more.
func (e *Election) leadTerm(ctx context.Context, lead func(context.Context) error) error {
	select {
	case e.term <- struct{}{}:
		defer func() { <-e.term }()
	case <-ctx.Done():
		return nil
	}
	if wait := e.lock.OthersUntil().Sub(e.lock.now()); wait > 0 {
		klog.FromContext(ctx).Info("Another process may still lead: waiting", "lease", e.lock.Describe(), "for", wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
	if err := lead(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("leading: %w", err)
	}
	return nil
}

// Trouble returns nil unless the lease does not exist and the API server forbids this process to create it.
func (e *Election) Trouble() error {
	if !e.lock.forbidden.Load() {
		return nil
	}
	return fmt.Errorf("the Lease %s does not exist, and the API server forbids its creation: apply deploy/rbac.yaml",
		e.lock.Describe())
}

// LastLed returns the last time at which, according to the lease, a process led; zero if unknown. Its result belongs in
// Options.LastLed of the manager. Call it before this process becomes a candidate.
func LastLed(
	ctx context.Context, leases coordinationv1.LeasesGetter, c componentbaseconfig.LeaderElectionConfiguration,
) time.Time {
	lease, err := leases.Leases(c.ResourceNamespace).Get(ctx, c.ResourceName, metav1.GetOptions{})
	switch {
	case err == nil && lease.Spec.RenewTime != nil:
		return lease.Spec.RenewTime.Time
	case err != nil && !apierrors.IsNotFound(err):
		klog.FromContext(ctx).Error(err, "Could not see the last leader: a journal that could not be written won't be noticed")
	}
	return time.Time{}
}
