package leader

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	componentbaseconfig "k8s.io/component-base/config"
	"k8s.io/klog/v2"
)

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
