package run

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/taint"
)

// listenRetry is the time between two attempts to listen on the page's port.
const listenRetry = 30 * time.Second

// condition is the state of the manager and of its watches, for the page, the remarks and the endpoints.
type condition interface {
	status.Source
	HasSynced() bool
	Trouble() error
	JournalTrouble() error
	BuiltinTrouble() error
	InForce() taintmanager.Policies
	Trips() []taintmanager.Trip
	IdleBreakers() []string
	OutageWithoutNoExecute() map[string]time.Time
}

// page returns the options of the web page; the notes have their own path.
func (p *process) page(of condition, notes http.Handler) status.Options {
	c := p.settings.Configuration
	manager := func() status.Manager {
		m := p.role(of)
		m.Version, m.DryRun, m.Cluster = p.build.Version, c.DryRun, clusterName(c.ClusterName, p.host)
		m.MaxEvictionsPerSecond, m.Synced = c.Eviction.MaxEvictionsPerSecond, of.HasSynced()
		m.Trouble, m.Warning = textOf(of.Trouble()), textOf(of.BuiltinTrouble())
		m.Idle, m.Spared = of.IdleBreakers(), sparedOf(of.OutageWithoutNoExecute())
		return m
	}
	pace := func(now time.Time, views []eviction.View, nodes []*taint.Node) *status.Pace {
		in, most := of.InForce(), c.Eviction.MaxEvictionsPerSecond
		if in.Paused || len(in.Guards.Rates) == 0 && most == 0 {
			return nil
		}
		return (*status.Pace)(dispatch.Foresee(now, turns(views, nodes), in.Guards.Rates, most))
	}
	return status.Options{Source: of, History: &p.history, Manager: manager, Pace: pace, Remarks: notes}
}

// turns returns when the evictions that have not started may start.
func turns(views []eviction.View, nodes []*taint.Node) (list []dispatch.Turn) {
	labels := make(map[string]map[string]string, len(nodes))
	for _, n := range nodes {
		labels[n.Name] = n.Labels
	}
	list = make([]dispatch.Turn, 0, len(views))
	for i := range views {
		v := &views[i]
		started := v.State == eviction.StateInFlight || v.State == eviction.StateTerminating
		if started || v.State == eviction.StateHeld || v.DeletedBy != "" {
			continue
		}
		list = append(list, dispatch.Turn{
			At: v.Verdict.At, TaintKeys: []string{v.Verdict.Taint.Key}, NodeLabels: labels[v.Verdict.Node],
		})
	}
	return list
}

// sparedOf returns the nodes in the order of their names.
func sparedOf(notReady map[string]time.Time) (list []status.SparedNode) {
	for _, name := range slices.Sorted(maps.Keys(notReady)) {
		list = append(list, status.SparedNode{Name: name, NotReadySince: notReady[name].UTC()})
	}
	return list
}

// textOf returns the text of an error; empty for nil.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// role returns whether this process leads, which policies are in force, and which breakers are tripped.
func (p *process) role(of condition) status.Manager {
	now := of.InForce()
	m := status.Manager{
		Identity: p.identity, Role: status.Leading, Leader: p.identity,
		EvictionMethod: now.Method.Word(), Paused: now.Paused,
	}
	if p.election != nil {
		m.Leader = p.election.Leader()
		if !p.election.Leading() {
			m.Role = status.Standby
		}
	}
	for i := range now.Policies {
		m.Policies = append(m.Policies, now.Policies[i].Name)
	}
	for _, t := range of.Trips() {
		m.Trips = append(m.Trips, status.Trip{
			Breaker: t.Breaker, Group: t.Group, Since: t.Began,
			Reset: string(now.Guards.ResetOf(t.Breaker, t.TopologyKey)),
		})
	}
	return m
}

// servePage serves the page until the context ends or the returned function is called, which waits until it has ended.
// The page matters less than evictions: nothing waits for it, and nothing ends because of it.
func servePage(ctx context.Context, o status.Options, address string) (hide func()) {
	if address == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() { serveWhenFree(ctx, status.New(o), address) })
	return func() { cancel(); serving.Wait() }
}

// serveWhenFree serves once the port is free: another replica on the same host may use it until that one ends.
func serveWhenFree(ctx context.Context, server *status.Server, address string) {
	said := false
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := serveAt(ctx, server, address); ctx.Err() == nil && !said {
			said = true
			klog.FromContext(ctx).Error(err, "The status page cannot be served; evictions are not affected. Free the port, choose another one with --status-address, or disable the page with --status-address=",
				"address", address, "triesAgainEvery", listenRetry)
		}
	}, listenRetry)
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
