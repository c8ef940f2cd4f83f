package source

import (
	"cmp"
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/hint"
)

// judge sets the rules to those of the configuration that the manager has published, if it has published one.
func (s *Scope) judge(j *foresight.Journal, to *foresight.Builder) error {
	published := j.Config()
	if s.Running == nil || published == nil {
		return nil
	}
	rules, err := s.Running(*published)
	if err != nil {
		return hint.Add(fmt.Errorf("cannot use the configuration that the manager has published: %w", err),
			"Specify a configuration file with --config.")
	}
	rules.Running = published
	s.Rules = rules
	to.Judge(rules)
	return nil
}

// readLease reads the manager's Lease.
func (c Cluster) readLease(ctx context.Context) foresight.Lease {
	l := c.location
	lease, err := c.client.CoordinationV1().Leases(l.namespace).Get(ctx, l.lease, metav1.GetOptions{})
	switch {
	case err == nil:
		return foresight.Lease{Spec: &lease.Spec}
	case apierrors.IsNotFound(err):
		return foresight.Lease{}
	case apierrors.IsForbidden(err):
		return foresight.Lease{Unknown: fmt.Sprintf("this user may not get Lease %s/%s", l.namespace, l.lease)}
	}
	return foresight.Lease{Unknown: fmt.Sprintf("Lease %s/%s can't be read (%v)", l.namespace, l.lease, err)}
}

// addLease adds a Lease of a dump, if it is the manager's. If it occurs twice, the newer state counts. Another Lease of
// its namespace shows that the dump lists Leases.
func (c *collected) addLease(l *coordinationv1.Lease) {
	switch {
	case l.Namespace != c.location.namespace:
	case l.Name != c.location.lease:
		c.pages.Lease.Unknown = ""
	case c.to.IsNew("Lease", l, cmp.Or(l.Spec.RenewTime, new(metav1.MicroTime)).Time):
		c.pages.Lease = foresight.Lease{Spec: &l.Spec}
	}
}

// serverTime returns a clock that shows the API server's time, as far as responses show that this machine's clock
// differs.
func serverTime(ahead func(time.Time) (least, most time.Duration)) func() time.Time {
	return func() time.Time {
		now := time.Now()
		least, most := ahead(now)
		return now.Add(-max(least, min(most, 0)))
	}
}
