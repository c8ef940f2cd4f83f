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

// EvictionSettings returns the settings of verdicts and evictions, and of the process as a whole.
func (c *Configuration) EvictionSettings() []Setting {
	d := Default()
	method := setting("eviction-method", "eviction.method", &c.EvictionMethod,
		"How pods are evicted: delete ignores PodDisruptionBudgets, as the original does; evict obeys them; "+
			"ignore leaves all pods alone that no policy matches.",
		oneOf(c.EvictionMethod, methods()...),
		"choose delete to do as the original does, or evict to obey PodDisruptionBudgets").live()
	method.words = texts(policy.Delete, policy.Evict, policy.Ignore)
	return []Setting{
		method,
		setting("eviction-workers", "eviction.workers", &c.EvictionWorkers,
			"How many eviction calls that are younger than a second may be in flight at once. Three times as many may be in flight in all.",
			between(c.EvictionWorkers, 1, 1000), leaveOut(d.EvictionWorkers)+
				", and see --max-evictions-per-second and --dry-run for fewer evictions or none").live(),
		setting("shards", "shards", &c.Shards, "How many goroutines judge pods, each for its own part of the nodes.",
			between(c.Shards, 1, 256), leaveOut(d.Shards)),
		// Below its least value, the time between two evictions is practically infinite.
		setting("max-evictions-per-second", "eviction.maxEvictionsPerSecond", &c.MaxEvictionsPerSecond,
			"How many eviction calls may start in a second.", noLimitOr(c.MaxEvictionsPerSecond, 0.001, 1e6),
			"leave it out for no limit, and see --dry-run for no evictions"),
		setting("comparison-operators", "eviction.comparisonOperators", &c.ComparisonOperators,
			"Let tolerations with the operators Lt and Gt count. If false, they match nothing.", rule{}, "").live(),
		setting("paused", "paused", &c.Paused, "Start no eviction call; all evictions stay planned and visible.",
			rule{}, "").live(),
		setting("dry-run", "dryRun", &c.DryRun, "Judge and log, but write neither to pods nor events, and take no part "+
			"in leader election unless --leader-elect=true is given. It may run in parallel with the controller that evicts.",
			rule{}, ""),
		setting("status-address", "statusAddress", &c.StatusAddress,
			"Where to serve the page and its JSON; see it by kubectl port-forward.", loopbackOrNone(c.StatusAddress),
			leaveOut(d.StatusAddress)+", and reach the page from elsewhere with kubectl port-forward"),
		setting("cluster-name", "clusterName", &c.ClusterName,
			"What the page calls the cluster. If empty, the host of the API server.", oneLine(c.ClusterName),
			"leave it out to show the host of the API server"),
	}
}

// ClientSettings returns the settings of requests to the API server.
func (c *Configuration) ClientSettings() []Setting {
	burst, afterBurst := between(c.KubeAPIBurst, 0, 1e6), "leave it out for as many as --kube-api-qps"
	if !burst.refused && c.KubeAPIBurst > 0 && c.KubeAPIQPS <= 0 { // it would have no effect
		burst = rule{compares: true, refused: true, takes: "0 while --kube-api-qps sets no limit"}
		afterBurst = "set --kube-api-qps too, or leave both out for no limit"
	}
	return []Setting{
		setting("kubeconfig", "clientConnection.kubeconfig", &c.Kubeconfig,
			"Path of the kubeconfig file. If empty, the service account of the pod that this runs in.", rule{}, ""),
		setting("kube-api-qps", "clientConnection.qps", &c.KubeAPIQPS,
			"Requests a second to the API server, those for the lease excepted. "+
				"Without a limit on this side, the API server's priority and fairness is the brake.",
			c.qpsRule(), "leave it out for no limit"),
		setting("kube-api-burst", "clientConnection.burst", &c.KubeAPIBurst,
			"Requests at once on top of --kube-api-qps. 0: as many as it allows in a second.", burst, afterBurst),
		setting("kube-api-content-type", "clientConnection.contentType", &c.KubeAPIContentType,
			"How requests are encoded.", oneOf(c.KubeAPIContentType, ContentTypeProtobuf, ContentTypeJSON),
			"leave it out for protobuf"),
	}
}

// LeaderElectionSettings returns the settings of the lease. They allow any value while leader election is off.
func (c *Configuration) LeaderElectionSettings() []Setting {
	e, d := &c.LeaderElection, Default().LeaderElection
	lease, renew, retry := &e.LeaseDuration.Duration, &e.RenewDeadline.Duration, &e.RetryPeriod.Duration
	settings := []Setting{
		setting("leader-elect", "leaderElection.leaderElect", &e.LeaderElect,
			"Evict only while this process holds the lease. Those that do not lead keep their caches and "+
				"countdowns current. With --dry-run, false unless this flag is given.", rule{}, ""),
		setting("leader-elect-lease-duration", "leaderElection.leaseDuration", lease,
			"How long candidates wait for a leader that does not renew its lease.", leaseRule(*lease),
			leaveOut(d.LeaseDuration.Duration)),
		setting("leader-elect-renew-deadline", "leaderElection.renewDeadline", renew,
			"How long a leader goes on without a renewal of the lease.", renewRule(*renew, *lease, *retry),
			fmt.Sprintf("leave all three out for %s, %s and %s",
				d.LeaseDuration.Duration, d.RenewDeadline.Duration, d.RetryPeriod.Duration)),
		setting("leader-elect-retry-period", "leaderElection.retryPeriod", retry,
			"The time between two tries to take or renew the lease.", retryRule(*retry),
			leaveOut(d.RetryPeriod.Duration)),
		setting("leader-elect-resource-lock", "leaderElection.resourceLock", &e.ResourceLock,
			"The kind of object that is the lock.", oneOf(e.ResourceLock, leases), "leave it out"),
		setting("leader-elect-resource-name", "leaderElection.resourceName", &e.ResourceName, "The name of the lease.",
			rule{
				refused: len(validation.IsDNS1123Subdomain(e.ResourceName)) > 0,
				takes:   "lower case letters, digits, '-' and '.', 253 at most, with a letter or digit at both ends",
			}, leaveOut(d.ResourceName)),
		setting("leader-elect-resource-namespace", "leaderElection.resourceNamespace", &e.ResourceNamespace,
			"The namespace of the lease and of the journal.",
			rule{
				refused: len(validation.IsDNS1123Label(e.ResourceNamespace)) > 0,
				takes:   "lower case letters, digits and '-', 63 at most, with a letter or digit at both ends",
			}, leaveOut(d.ResourceNamespace)),
	}
	if !e.LeaderElect {
		for i := range settings {
			settings[i].refused = false
		}
	}
	return settings
}

func leaveOut(value any) string { return fmt.Sprintf("leave it out for %v", value) }
