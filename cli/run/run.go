package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	genericserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/tools/leaderelection"
	componentbaseconfig "k8s.io/component-base/config"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/internal/transport"
	"github.com/taint-manager/taint-manager/leader"
)

// Build is the program's identification.
type Build struct {
	Version   string // in the log and on the page
	UserAgent string // for API servers
}

// Command returns the command "run". It runs until its context ends or the process is signalled.
func Command(b Build) *cobra.Command {
	s := newSettings()
	cmd := &cobra.Command{
		Use: "run", Short: "Watch the cluster and evict pods", Args: flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.given = cmd.Flags().Changed
			effective, err := s.load(cmd.InOrStdin())
			if err != nil {
				return err
			}
			return effective.run(cmd.Context(), b)
		},
	}
	terminal.AddFlags(cmd, runHelp, s.sections)
	return cmd
}

// run runs until ctx ends or the process is signalled.
func (s *settings) run(ctx context.Context, b Build) error {
	logs.InitLogs()
	defer logs.FlushLogs()
	defer runtime.KeepAlive(ballast())
	if err := logsapi.ValidateAndApply(s.logging, nil); err != nil {
		return flags.UsageError{Err: fmt.Errorf("setting up the logs: %w", err)}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := genericserver.SetupSignalContext() // a second signal ends the process with exit code 1
	defer context.AfterFunc(signals, cancel)()    //nolint:contextcheck // signals are those of the process
	p, err := s.start(ctx, b)
	if err == nil {
		err = p.run(ctx)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // cancelled while it was starting
	}
	return err
}

// process has the parts of a running process.
type process struct {
	settings *settings
	build    Build
	host     string
	identity string
	server   *server
	manager  *taintmanager.Manager
	watchdog healthz.HealthChecker
	campaign leader.Campaign
	history  status.History
	clock    *skew.Clock
	election election  // nil without leader election
	reloader *reloader // nil without a file that can change
}

// start does everything that can fail, in the order in which errors are most useful.
func (s *settings) start(ctx context.Context, b Build) (*process, error) {
	access, err := transport.Load(s.ClientConnection.Kubeconfig)
	if err != nil {
		return nil, err
	}
	p := &process{settings: s, build: b, host: access.Host, clock: skew.New()}
	access.Wrap(p.clock.RoundTripper)
	to, err := transport.New(access, s.Configuration, b.UserAgent)
	if err != nil {
		return nil, err
	}
	if err := s.checkAccess(ctx, to.Main, access.Host); err != nil {
		return nil, err
	}
	p.clock.Search(ctx, func(ctx context.Context) {
		to.Lease.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx)
	})
	if p.server, err = s.listen(ctx); err != nil {
		return nil, err
	}
	return p, p.assemble(to, legacyregistry.Registerer())
}

func (p *process) assemble(to transport.Clients, registerer prometheus.Registerer) (err error) {
	s := p.settings
	if p.identity, err = leader.NewIdentity(); err != nil {
		return err
	}
	options := s.managerOptions()
	options.Registerer, options.Ended = registerer, p.history.Ended
	options.Journal = taintmanager.NewJournal(to.Main, s.LeaderElection.ResourceNamespace, journalName(s.Configuration))
	options.Watching, options.Ahead, options.OwnPod = to.Watch, p.clock.Ahead, ownPod()
	options.Identity = p.identity
	p.campaign, p.watchdog = leader.Always, leaderelection.NewLeaderHealthzAdaptor(0) // without a lease it never fails
	if s.LeaderElection.LeaderElect {
		leases, lease := to.Lease.CoordinationV1(), componentbaseconfig.LeaderElectionConfiguration(s.LeaderElection)
		e := leader.New(lease, leases, p.identity)
		p.election, p.campaign, p.watchdog = e, e.Campaign, e.Watchdog()
		options.Leading = e.Leading
	}
	if p.manager, err = taintmanager.New(to.Main, nil, options); err != nil {
		return fmt.Errorf("setting up the manager: %w", err)
	}
	metrics := newConfigMetrics(registerer, s)
	if s.configFile != "" && s.configFile != "-" {
		p.reloader = &reloader{
			setPolicies: p.manager.SetPolicies, idleBreakers: p.manager.IdleBreakers, started: s, current: s,
			considered: s.content, metrics: metrics,
			client: to.Main, event: leaseEvents(to.Main, s.Configuration, p.identity),
		}
	}
	return p.clock.Register(registerer)
}

// journalName returns the name of the journal's ConfigMaps, without their numbers. Replicas that compete for one lease
// share a journal.
func journalName(c config.Configuration) string { return store.NameFor(c.LeaderElection.ResourceName) }

// run runs until ctx ends.
func (p *process) run(ctx context.Context) error {
	notes := remarks{condition: p.manager, clock: p.clock.Trouble, file: p.reloader, election: p.election}
	paths := endpoints(p.manager, ctx.Done(), p.watchdog, p.settings.Serving.Profiling)
	shutdown, err := p.server.serve(notes.below(paths))
	if err != nil {
		return err
	}
	defer shutdown()
	p.announce(ctx)
	go afterLists(ctx, p.manager.HasSynced, func() {
		debug.FreeOSMemory() // the lists took more memory than will be needed again
		warnOfOwnNode(ctx, p.manager.OwnView)
		warnOfIdleBreakers(ctx, p.manager.IdleBreakers())
	})
	if p.reloader != nil {
		go p.reloader.run(ctx)
	}
	defer servePage(ctx, p.page(p.manager, notes), p.settings.StatusAddress)()
	return leader.Run(ctx, p.manager, p.campaign)
}

// managerOptions returns the library's options for the settings.
func (s *settings) managerOptions() taintmanager.Options {
	return taintmanager.Options{
		Shards: s.Shards, Workers: s.Eviction.Workers,
		MaxEvictionsPerSecond: s.Eviction.MaxEvictionsPerSecond, Method: s.Eviction.Method, Rules: s.Policy().Rules,
		Policies: s.Policies, Guards: s.Guards, Paused: s.paused(), DryRun: s.DryRun,
	}
}

// announce logs the server, the identity and the settings of evictions.
func (p *process) announce(ctx context.Context) {
	s, namespace := p.settings, p.settings.LeaderElection.ResourceNamespace
	var lease klog.ObjectRef
	if s.LeaderElection.LeaderElect {
		lease = klog.KRef(namespace, s.LeaderElection.ResourceName)
	}
	logger := klog.FromContext(ctx)
	logger.Info("Starting taint-manager", "version", p.build.Version, "server", p.host, "watches", "pods and nodes",
		"method", s.Eviction.Method.Word(), "dryRun", s.DryRun, "workers", s.Eviction.Workers,
		"maxEvictionsPerSecond", s.Eviction.MaxEvictionsPerSecond, "shards", s.Shards,
		"kubeAPIQPS", s.ClientConnection.QPS, "comparisonOperators", s.Eviction.ComparisonOperators,
		"paused", s.paused(),
		"leaderElect", s.LeaderElection.LeaderElect, "lease", lease, "identity", p.identity,
		"journal", klog.KRef(namespace, journalName(s.Configuration)), "configFile", s.configFile,
		"policies", len(s.Policies), "rates", len(s.Guards.Rates), "breakers", len(s.Guards.Breakers))
	s.warn(logger)
	if s.paused() {
		logger.Info("Evictions are paused: none starts while paused is true, in the configuration or in the file next to it")
	}
	if err := p.clock.Trouble(time.Now()); err != nil {
		logger.Info("The clocks are not in step", "problem", err.Error())
	}
}
