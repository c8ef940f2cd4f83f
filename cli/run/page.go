package run

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/leader"
	"github.com/taint-manager/taint-manager/status"
)

// listenAgain is the time between two tries to take the page's port.
const listenAgain = 30 * time.Second

// page shows people what goes on. It is worth less than evictions: nothing waits for it or ends with it.
type page struct {
	history status.History
	version string
	cluster string // what the page calls the cluster
	role    func() status.Manager
}

// shown is what the page shows.
type shown interface {
	status.Source
	status.Health
}

// serve shows the page until the context ends or the returned function is called, which waits for its
// end.
func (p *page) serve(ctx context.Context, of shown, c config.Configuration) (hide func()) {
	if c.StatusAddress == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	server := status.New(status.Options{
		Source: of, Health: of, History: &p.history, Role: p.role, Version: p.version, DryRun: c.DryRun,
		Cluster: p.cluster, EvictionMethod: string(c.EvictionMethod), MaxEvictionsPerSecond: c.MaxEvictionsPerSecond,
	})
	var serving sync.WaitGroup
	serving.Go(func() { serveWhenever(ctx, server, c.StatusAddress) })
	return func() { cancel(); serving.Wait() }
}

// serveWhenever serves once the port is free: it may be another replica's on the same host, which ends
// some day.
func serveWhenever(ctx context.Context, server *status.Server, address string) {
	logger := klog.FromContext(ctx)
	said := false
	for {
		err := serveAt(ctx, server, address)
		if ctx.Err() != nil {
			return
		}
		if !said {
			said = true
			logger.Error(err, "The page is not served, the rest goes on; free the port, name another by --status-address, or none by --status-address=",
				"address", address, "triesAgainEvery", listenAgain)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(listenAgain):
		}
	}
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

// clusterName returns the name that is set, else the host and port in the URL of the API server. Of the URL
// nothing else is shown: a user, a path or a query may hold a secret.
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

// roleAlone is that of a process that leads from beginning to end.
func roleAlone(identity string) func() status.Manager {
	return func() status.Manager {
		return status.Manager{Identity: identity, Role: status.Leading, Leader: identity}
	}
}

// roleIn says who leads, as far as this process knows.
func roleIn(e *leader.Election) func() status.Manager {
	return func() status.Manager {
		m := status.Manager{Identity: e.Identity(), Role: status.Standby, Leader: e.Leader()}
		if e.Leading() {
			m.Role = status.Leading
		}
		return m
	}
}
