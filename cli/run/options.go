package run

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/internal/config"
)

// managerOptions returns the library's options for the configuration.
func managerOptions(c config.Configuration) taintmanager.Options {
	return taintmanager.Options{
		Shards:                c.Shards,
		Workers:               c.EvictionWorkers,
		MaxSlowEvictions:      c.MaxSlowEvictions,
		MaxEvictionsPerSecond: c.MaxEvictionsPerSecond,
		Method:                c.EvictionMethod,
		Paused:                c.Paused,
		DryRun:                c.DryRun,
		Rules:                 c.Rules(),
	}
}

// announce logs the server, the identity and the settings of evictions.
func (p *process) announce(ctx context.Context) {
	c := p.settings.Configuration
	facts := []any{
		"version", p.build.Version, "server", p.host,
		"watches", "pods and nodes", "method", c.EvictionMethod, "dryRun", c.DryRun, "workers", c.EvictionWorkers,
		"maxSlowEvictions", c.MaxSlowEvictions,
		"maxEvictionsPerSecond", c.MaxEvictionsPerSecond, "shards", c.Shards, "kubeAPIQPS", c.KubeAPIQPS,
		"comparisonOperators", c.ComparisonOperators, "paused", p.settings.paused(),
		"leaderElect", c.LeaderElection.LeaderElect,
	}
	if c.LeaderElection.LeaderElect {
		lease := klog.KRef(c.LeaderElection.ResourceNamespace, c.LeaderElection.ResourceName)
		facts = append(facts, "lease", lease, "identity", p.identity)
	}
	facts = append(facts, "journal", klog.KRef(c.LeaderElection.ResourceNamespace, journalName(c)))
	logger := klog.FromContext(ctx)
	logger.Info("Starting taint-manager", append(facts, "configFile", p.settings.configFile,
		"policies", len(p.settings.Policies), "rates", len(p.settings.Guards.Rates), "breakers",
		len(p.settings.Guards.Breakers))...)
	p.settings.warn(logger)
	if p.settings.paused() {
		logger.Info("Evictions are paused: none starts while paused is true, in the configuration or beside its file")
	}
	if err := p.clock.Trouble(time.Now()); err != nil {
		logger.Info("The clocks are not in step", "problem", err.Error())
	}
}
