package config

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/taint-manager/taint-manager/policy"
)

// Settings returns all settings, each bound to its field of c.
func (c *Configuration) Settings() []Setting {
	return slices.Concat(c.EvictionSettings(), c.ClientSettings(), c.LeaderElectionSettings())
}

// EvictionSettings returns the settings of verdicts and evictions.
func (c *Configuration) EvictionSettings() []Setting {
	d := Default()
	settings := []Setting{
		{
			Flag: "eviction-method", Field: "eviction.method", Value: flagValue(&c.EvictionMethod), Live: true,
			rule:  oneOf(c.EvictionMethod, methods()...),
			words: texts(policy.Delete, policy.Evict, policy.Ignore),
			Usage: "How pods are evicted: delete ignores PodDisruptionBudgets, as the original does; evict obeys them; " +
				"ignore leaves all pods alone that no policy matches.",
			next: "choose delete to do as the original does, or evict to obey PodDisruptionBudgets",
		},
		{
			Flag: "eviction-workers", Field: "eviction.workers", Value: flagValue(&c.EvictionWorkers), Live: true,
			rule:  between(c.EvictionWorkers, 1, 1000),
			Usage: "How many eviction calls may be under way at once, each for its first second at most.",
			next: leaveOut(d.EvictionWorkers) +
				", and see --max-evictions-per-second and --dry-run for fewer evictions or none",
		},
		{
			Flag: "max-slow-evictions", Field: "eviction.maxSlowEvictions", Value: flagValue(&c.MaxSlowEvictions),
			rule: between(c.MaxSlowEvictions, 1, 1000),
			Usage: "How many eviction calls that take longer, because of an admission webhook for instance, may be " +
				"under way beside them.",
			next: leaveOut(d.MaxSlowEvictions),
		},
		{
			Flag: "shards", Field: "shards", Value: flagValue(&c.Shards), rule: between(c.Shards, 1, 256),
			Usage: "How many goroutines judge pods, each for its own part of the nodes.",
			next:  leaveOut(d.Shards),
		},
		{ // below its least value, the time between two evictions is practically infinite
			Flag: "max-evictions-per-second", Field: "eviction.maxEvictionsPerSecond",
			Value: flagValue(&c.MaxEvictionsPerSecond), rule: noLimitOr(c.MaxEvictionsPerSecond, 0.001, 1e6),
			Usage: "How many eviction calls may start in a second.",
			next:  "leave it out for no limit, and see --dry-run for no evictions",
		},
		{
			Flag: "comparison-operators", Field: "eviction.comparisonOperators",
			Value: flagValue(&c.ComparisonOperators), Live: true,
			Usage: "Let tolerations with the operators Lt and Gt count. If false, they match nothing.",
		},
	}
	return slices.Concat(settings, c.processSettings())
}

// processSettings returns the settings of the process as a whole.
func (c *Configuration) processSettings() []Setting {
	return []Setting{
		{
			Flag: "paused", Field: "paused", Value: flagValue(&c.Paused), Live: true,
			Usage: "Start no eviction call; all evictions stay planned and visible.",
		},
		{
			Flag: "dry-run", Field: "dryRun", Value: flagValue(&c.DryRun),
			Usage: "Judge and log, but write neither to pods nor events, and take no part in leader election unless " +
				"--leader-elect=true is given. It may run in parallel with the controller that evicts.",
		},
		{
			Flag: "status-address", Field: "statusAddress", Value: flagValue(&c.StatusAddress),
			rule:  loopbackOrNone(c.StatusAddress),
			Usage: "Where to serve the page and its JSON; see it by kubectl port-forward.",
			next:  leaveOut(Default().StatusAddress) + ", and reach the page from elsewhere with kubectl port-forward",
		},
		{
			Flag: "cluster-name", Field: "clusterName", Value: flagValue(&c.ClusterName), rule: oneLine(c.ClusterName),
			Usage: "What the page calls the cluster. If empty, the host of the API server.",
			next:  "leave it out to show the host of the API server",
		},
	}
}

// ClientSettings returns the settings of requests to the API server.
func (c *Configuration) ClientSettings() []Setting {
	return []Setting{
		{
			Flag: "kubeconfig", Field: "clientConnection.kubeconfig", Value: flagValue(&c.Kubeconfig),
			Usage: "Path of the kubeconfig file. If empty, the service account of the pod that this runs in.",
		},
		{
			Flag: "kube-api-qps", Field: "clientConnection.qps", Value: flagValue(&c.KubeAPIQPS), rule: c.qpsRule(),
			Usage: "Requests a second to the API server, those for the lease excepted. " +
				"Without a limit on this side, the API server's priority and fairness is the brake.",
			next: "leave it out for no limit",
		},
		c.burstSetting(),
		{
			Flag: "kube-api-content-type", Field: "clientConnection.contentType",
			Value: flagValue(&c.KubeAPIContentType),
			rule:  oneOf(c.KubeAPIContentType, ContentTypeProtobuf, ContentTypeJSON),
			Usage: "How requests are encoded.",
			next:  "leave it out for protobuf",
		},
	}
}

// burstSetting refuses a burst without a limit, because such a burst has no effect.
func (c *Configuration) burstSetting() Setting {
	s := Setting{
		Flag: "kube-api-burst", Field: "clientConnection.burst", Value: flagValue(&c.KubeAPIBurst),
		rule:  between(c.KubeAPIBurst, 0, 1e6),
		Usage: "Requests at once on top of --kube-api-qps. 0: as many as it allows in a second.",
		next:  "leave it out for as many as --kube-api-qps",
	}
	if !s.refused && c.KubeAPIBurst > 0 && c.KubeAPIQPS <= 0 {
		s.rule = rule{compares: true, refused: true, takes: "0 while --kube-api-qps sets no limit"}
		s.next = "set --kube-api-qps too, or leave both out for no limit"
	}
	return s
}

// LeaderElectionSettings returns the settings of the lease. They allow any value while leader election is off.
func (c *Configuration) LeaderElectionSettings() []Setting {
	e, d := &c.LeaderElection, Default().LeaderElection
	lease, renew, retry := &e.LeaseDuration.Duration, &e.RenewDeadline.Duration, &e.RetryPeriod.Duration
	settings := []Setting{
		{
			Flag: "leader-elect", Field: "leaderElection.leaderElect", Value: flagValue(&e.LeaderElect),
			Usage: "Evict only while this process holds the lease. Those that do not lead keep their caches and " +
				"countdowns current. With --dry-run, false unless this flag is given.",
		},
		{
			Flag: "leader-elect-lease-duration", Field: "leaderElection.leaseDuration", Value: flagValue(lease),
			rule:  leaseRule(*lease),
			Usage: "How long candidates wait for a leader that does not renew its lease.",
			next:  leaveOut(d.LeaseDuration.Duration),
		},
		{
			Flag: "leader-elect-renew-deadline", Field: "leaderElection.renewDeadline", Value: flagValue(renew),
			rule:  renewRule(*renew, *lease, *retry),
			Usage: "How long a leader goes on without a renewal of the lease.",
			next: fmt.Sprintf("leave all three out for %s, %s and %s",
				d.LeaseDuration.Duration, d.RenewDeadline.Duration, d.RetryPeriod.Duration),
		},
		{
			Flag: "leader-elect-retry-period", Field: "leaderElection.retryPeriod", Value: flagValue(retry),
			rule:  retryRule(*retry),
			Usage: "The time between two tries to take or renew the lease.",
			next:  leaveOut(d.RetryPeriod.Duration),
		},
		{
			Flag: "leader-elect-resource-lock", Field: "leaderElection.resourceLock", Value: flagValue(&e.ResourceLock),
			rule:  oneOf(e.ResourceLock, leases),
			Usage: "The kind of object that is the lock.",
			next:  "leave it out",
		},
		{
			Flag: "leader-elect-resource-name", Field: "leaderElection.resourceName", Value: flagValue(&e.ResourceName),
			rule: rule{
				refused: len(validation.IsDNS1123Subdomain(e.ResourceName)) > 0,
				takes:   "lower case letters, digits, '-' and '.', 253 at most, with a letter or digit at both ends",
			},
			Usage: "The name of the lease.",
			next:  leaveOut(d.ResourceName),
		},
		{
			Flag: "leader-elect-resource-namespace", Field: "leaderElection.resourceNamespace",
			Value: flagValue(&e.ResourceNamespace),
			rule: rule{
				refused: len(validation.IsDNS1123Label(e.ResourceNamespace)) > 0,
				takes:   "lower case letters, digits and '-', 63 at most, with a letter or digit at both ends",
			},
			Usage: "The namespace of the lease and of the journal.",
			next:  leaveOut(d.ResourceNamespace),
		},
	}
	if !e.LeaderElect {
		for i := range settings {
			settings[i].refused = false
		}
	}
	return settings
}

func leaveOut(value any) string { return fmt.Sprintf("leave it out for %v", value) }
