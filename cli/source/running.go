package source

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/journal"
)

// state returns the name of the ConfigMap of the state of the journal.
func (l location) state() string { return journal.StateName(l.name()) }

// manager returns a manager of which nothing was read.
func (l location) manager() foresight.Manager {
	return foresight.Manager{Asked: true, Named: fmt.Sprintf("ConfigMap %s/%s", l.namespace, l.state())}
}

// rulesOf returns the rules of the manager, or those of a manager without a configuration if they are not known, and the
// manager with what is wrong with its configuration.
func (s *Scope) rulesOf(m foresight.Manager) (foresight.Ruleset, foresight.Manager) {
	if m.State.Config == nil {
		return s.Rules, m
	}
	rules, err := s.Running(*m.State.Config)
	if err != nil {
		m.State.Config, m.Unknown = nil, fmt.Sprintf("the configuration in %s can't be used (%v)", m.Named, err)
		return s.Rules, m
	}
	return rules, m
}

// judge sets the rules to those of the manager.
func (s *Scope) judge(m foresight.Manager, to *foresight.Builder) foresight.Manager {
	s.Rules, m = s.rulesOf(m)
	to.Judge(s.Rules)
	return m
}

// manager reads the Lease, then the state of the journal.
func (c Cluster) manager(ctx context.Context) foresight.Manager {
	m := c.location.manager()
	lease, err := c.client.CoordinationV1().Leases(c.location.namespace).Get(ctx, c.location.lease, metav1.GetOptions{})
	if err == nil {
		m.Lease = &lease.Spec
	} else {
		m.LeaseUnknown = unread(err, fmt.Sprintf("Lease %s/%s", c.location.namespace, c.location.lease))
	}
	state, err := c.client.CoreV1().ConfigMaps(c.location.namespace).Get(ctx, c.location.state(), metav1.GetOptions{})
	if err == nil {
		m.State, m.Unknown = decodeState(m.Named, state)
	} else {
		m.Unknown = unread(err, m.Named)
	}
	m.At = c.clock.time()
	return m
}

// unread says why an object could not be read; "" if it does not exist.
func unread(err error, what string) string {
	switch {
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return ""
	case apierrors.IsForbidden(err):
		return "this user may not get " + what
	}
	return fmt.Sprintf("%s can't be read (%v)", what, err)
}

// decodeState returns the state in the ConfigMap, or why it can't be read.
func decodeState(named string, m *v1.ConfigMap) (s journal.State, unknown string) {
	s, err := journal.DecodeState(m.Data)
	if err != nil {
		return s, fmt.Sprintf("%s can't be read (%v)", named, err)
	}
	return s, ""
}

// addState adds a ConfigMap of a dump, if it is the state of the journal.
func (d *dumped) addState(m *v1.ConfigMap) {
	if m.Namespace == d.location.namespace && m.Name == d.location.state() {
		d.manager.State, d.manager.Unknown = decodeState(d.manager.Named, m)
	}
}

// addLease adds a Lease of a dump, if it is the manager's.
func (d *dumped) addLease(l *coordinationv1.Lease) {
	if l.Namespace == d.location.namespace && l.Name == d.location.lease {
		d.manager.Lease, d.manager.LeaseUnknown = &l.Spec, ""
	}
}

// serverClock has the time of the API server, by its latest answer.
type serverClock struct {
	now    func() time.Time
	latest atomic.Pointer[time.Time]
}

// time returns the time of the latest answer, or this machine's if no answer had one.
func (s *serverClock) time() time.Time {
	if latest := s.latest.Load(); latest != nil {
		return *latest
	}
	return s.now()
}

// wrap notes the times of the answers to the requests of a client.
func (s *serverClock) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err == nil {
			if at, bad := http.ParseTime(answer.Header.Get("Date")); bad == nil {
				s.latest.Store(&at)
			}
		}
		return answer, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
