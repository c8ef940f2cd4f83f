package run

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/leader"
	"github.com/taint-manager/taint-manager/status"
)

// listenAgain is the time between two attempts to listen on the page's port.
const listenAgain = 30 * time.Second

// page serves the web page. It matters less than evictions: nothing waits for it, and nothing ends because of it.
type page struct {
	history status.History
	version string
	cluster string // the cluster's name on the page
	role    func() status.Manager
}

// shown is the source of the page.
type shown interface {
	status.Source
	status.Health
	OriginalTrouble() error
}

// serve serves the page until the context ends or the returned function is called, which waits until it has ended.
func (p *page) serve(ctx context.Context, of shown, c config.Configuration) (hide func()) {
	if c.StatusAddress == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	server := status.New(status.Options{
		Source: of, Health: of, Warning: warningOf(of), History: &p.history, Role: p.role, Version: p.version,
		DryRun:  c.DryRun,
		Cluster: p.cluster, EvictionMethod: string(c.EvictionMethod), MaxEvictionsPerSecond: c.MaxEvictionsPerSecond,
	})
	var serving sync.WaitGroup
	serving.Go(func() { serveWhenever(ctx, server, c.StatusAddress) })
	return func() { cancel(); serving.Wait() }
}

// warningOf returns the function that returns the present warning, or "".
func warningOf(s shown) func() string {
	return func() string {
		if err := s.OriginalTrouble(); err != nil {
			return err.Error()
		}
		return ""
	}
}

// serveWhenever serves once the port is free: another replica on the same host may use it until it ends.
func serveWhenever(ctx context.Context, server *status.Server, address string) {
	said := false
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := serveAt(ctx, server, address); ctx.Err() == nil && !said {
			said = true
			klog.FromContext(ctx).Error(err, "The page is not served, the rest goes on; free the port, name another by --status-address, or none by --status-address=",
				"address", address, "triesAgainEvery", listenAgain)
		}
	}, listenAgain)
}

func serveAt(ctx context.Context, server *status.Server, address string) error {
	var options net.ListenConfig
	listener, err := options.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	klog.FromContext(ctx).Info("The page is served", "url", "http://"+address+"/")
	return server.Serve(ctx, listener)
}

// clusterName returns the configured name, or the host and port in the URL of the API server. It omits the rest of the
// URL, because a user, a path or a query may contain a secret.
func clusterName(name, server string) string {
	if name != "" {
		return name
	}
	if !strings.Contains(server, "://") {
		server = "https://" + server
	}
	address, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return address.Host
}

// roleAlone returns the role of a process that always leads.
func roleAlone(identity string) func() status.Manager {
	return func() status.Manager {
		return status.Manager{Identity: identity, Role: status.Leading, Leader: identity}
	}
}

// policySource reports which policies are in force, and which breakers are tripped.
type policySource interface {
	InForce() taintmanager.Policies
	Trips() []guard.TripRecord
}

// withPolicies adds to a role which policies are in force, and what is held.
func withPolicies(role func() status.Manager, p policySource) func() status.Manager {
	return func() status.Manager {
		m, now := role(), p.InForce()
		m.EvictionMethod, m.Paused = string(now.Method), now.Paused
		for i := range now.Policies {
			m.Policies = append(m.Policies, now.Policies[i].Name)
		}
		for _, t := range p.Trips() {
			m.Trips = append(m.Trips, status.Trip{
				Breaker: t.Breaker, Group: t.Group, Since: t.Began,
				Reset: string(now.Guards.ResetOf(t.Breaker, t.TopologyKey)),
			})
		}
		return m
	}
}

// roleIn returns the role of a candidate, with the leader that it has last seen.
func roleIn(e *leader.Election) func() status.Manager {
	return func() status.Manager {
		m := status.Manager{Identity: e.Identity(), Role: status.Standby, Leader: e.Leader()}
		if e.Leading() {
			m.Role = status.Leading
		}
		return m
	}
}
