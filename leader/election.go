package leader

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	componentbaseconfig "k8s.io/component-base/config"
	"k8s.io/klog/v2"
)

// late is the grace after lease expiry before a leader that has not stepped down fails its health check.
const late = 20 * time.Second

// Election campaigns for one lease, term after term. Its methods are safe for concurrent use, but only one Campaign may
// run at a time.
type Election struct {
	settings componentbaseconfig.LeaderElectionConfiguration
	lock     *Lock
	watchdog *leaderelection.HealthzAdaptor
	elector  atomic.Pointer[leaderelection.LeaderElector] // nil before the campaign

	// term has room for one lead function, because an elector does not wait for the function that it has started.
	term chan struct{}
}

// Defaults returns the settings of the program taint-manager: its default lease and times.
func Defaults() componentbaseconfig.LeaderElectionConfiguration {
	seconds := func(n time.Duration) metav1.Duration { return metav1.Duration{Duration: n * time.Second} }
	return componentbaseconfig.LeaderElectionConfiguration{
		LeaderElect: true, LeaseDuration: seconds(15), RenewDeadline: seconds(10), RetryPeriod: seconds(2),
		ResourceLock: resourcelock.LeasesResourceLock, ResourceName: "taint-manager", ResourceNamespace: "kube-system",
	}
}

// New returns an election for the lease with these settings, see [Defaults]. The identity must be unique, see
// [NewIdentity]. The client should have its own connections, so that no renewal waits behind other calls.
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
// manifests set, or else the host's name, which is the node's for a pod with hostNetwork.
func NewIdentity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("asking for the host's name: %w", err)
	}
	return cmp.Or(os.Getenv("POD_NAME"), host) + "_" + string(uuid.NewUUID()), nil
}

// Leading reports whether this process leads by its own clock, see [Lock.Fresh]. It does not block.
func (e *Election) Leading() bool { return e.lock.Fresh(e.settings.RenewDeadline.Duration) }

// Leader returns the identity of the last leader that this process has seen; empty before the first.
func (e *Election) Leader() string {
	if elector := e.elector.Load(); elector != nil {
		return elector.GetLeader()
	}
	return ""
}

// Watchdog returns a health check that fails if this process has not stepped down although its lease expired long ago.
func (e *Election) Watchdog() *leaderelection.HealthzAdaptor { return e.watchdog }

// Trouble returns nil unless the latest request to read or write the lease has failed.
func (e *Election) Trouble() error {
	if err := e.lock.trouble.Load(); err != nil && *err != nil {
		return fmt.Errorf("the Lease %s: %w", e.lock.Describe(), *err)
	}
	return nil
}

// Campaign calls lead whenever this process holds the lease and no other process can still act as its holder, one call
// at a time, until ctx ends; then it releases the lease. The context of a call ends with its term. Losing the lease is
// not an error: the process becomes a candidate again. If lead returns an error during its term, Campaign ends and
// returns it.
func (e *Election) Campaign(ctx context.Context, lead func(context.Context) error) error {
	campaign, resign := context.WithCancelCause(ctx)
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
			OnStoppedLeading: func() { klog.FromContext(ctx).Info("Standing by", "lease", e.lock.Describe()) },
			OnNewLeader: func(identity string) {
				klog.FromContext(ctx).Info("Seen a leader", "identity", identity, "self", identity == e.lock.Identity())
			},
		},
	})
	if err != nil {
		return fmt.Errorf("setting up the leader election: %w", err)
	}
	e.elector.Store(elector)
	e.watchdog.SetLeaderElection(elector)
	defer e.release(ctx)
	for campaign.Err() == nil {
		elector.Run(campaign)
	}
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(campaign)
}

// leadTerm calls lead once the previous term of this process is over, and no other process may act as the holder.
func (e *Election) leadTerm(ctx context.Context, lead func(context.Context) error) error {
	select {
	case e.term <- struct{}{}:
		defer func() { <-e.term }()
	case <-ctx.Done():
		return nil
	}
	left := e.lock.othersMayLeadFor()
	if left > 0 {
		klog.FromContext(ctx).Info("Another process may still lead: waiting", "lease", e.lock.Describe(), "for", left)
	}
	select {
	case <-time.After(left):
	case <-ctx.Done():
		return nil
	}
	if err := lead(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("leading: %w", err)
	}
	return nil
}

// release releases the lease if this process still holds it. The elector is not told to release the lease, because it
// would do so before lead has ended. A renewal at the same time may cause a conflict, so release retries.
func (e *Election) release(ctx context.Context) {
	limit := min(e.settings.RenewDeadline.Duration/2, 5*time.Second)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	err := retry.OnError(retry.DefaultRetry, func(error) bool { return ctx.Err() == nil },
		func() error { return e.lock.release(ctx) })
	if err != nil {
		klog.FromContext(ctx).Error(err, "The lease may stay held until it expires", "lease", e.lock.Describe())
	}
}
