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
		"How pods are evicted. delete: ignore PodDisruptionBudgets, as the built-in controller does; evict: respect "+
			"them; ignore: evict only pods that a policy matches.",
		oneOf(c.EvictionMethod, methods()...),
		"choose delete to do as the original does, or evict to obey PodDisruptionBudgets").live()
	method.words = texts(policy.Delete, policy.Evict, policy.Ignore)
	return []Setting{
		method,
		setting("eviction-workers", "eviction.workers", &c.EvictionWorkers,
			"Maximum concurrent eviction calls. Calls that take longer than 1s no longer count, up to three times "+
				"this number in total.",
			between(c.EvictionWorkers, 1, 1000), leaveOut(d.EvictionWorkers)+
				", and see --max-evictions-per-second and --dry-run for fewer evictions or none").live(),
		setting("shards", "shards", &c.Shards, "Number of goroutines that compute evictions, each for its own share of the nodes.",
			between(c.Shards, 1, 256), leaveOut(d.Shards)),
		// Below its least value, the time between two evictions is practically infinite.
		setting("max-evictions-per-second", "eviction.maxEvictionsPerSecond", &c.MaxEvictionsPerSecond,
			"Maximum eviction calls that start in a second.", noLimitOr(c.MaxEvictionsPerSecond, 0.001, 1e6),
			"leave it out for no limit, and see --dry-run for no evictions"),
		setting("comparison-operators", "eviction.comparisonOperators", &c.ComparisonOperators,
			"Honor tolerations with the operators Lt and Gt. If false, they match nothing.", rule{}, "").live(),
		setting("paused", "paused", &c.Paused, "Start no eviction call. All evictions remain scheduled and visible.",
			rule{}, "").live(),
		setting("dry-run", "dryRun", &c.DryRun, "Compute and log evictions, but change no pods and create no events, and "+
			"take no part in leader election unless --leader-elect=true is given. It can run next to the built-in controller.",
			rule{}, ""),
		setting("status-address", "statusAddress", &c.StatusAddress,
			"Address on which to serve the status page and its JSON. Reach it with kubectl port-forward.", loopbackOrNone(c.StatusAddress),
			leaveOut(d.StatusAddress)+", and reach the page from elsewhere with kubectl port-forward"),
		setting("cluster-name", "clusterName", &c.ClusterName,
			"Name of the cluster on the status page. If empty, the host of the API server.", oneLine(c.ClusterName),
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
			"Path of the kubeconfig file. If empty, the in-cluster service account is used.", rule{}, ""),
		setting("kube-api-qps", "clientConnection.qps", &c.KubeAPIQPS,
			"Maximum requests to the API server in a second. Requests for the lease are excluded. "+
				"Without a limit, only API Priority and Fairness throttles requests.",
			c.qpsRule(), "leave it out for no limit"),
		setting("kube-api-burst", "clientConnection.burst", &c.KubeAPIBurst,
			"Maximum burst of requests to the API server. 0 means the value of --kube-api-qps.", burst, afterBurst),
		setting("kube-api-content-type", "clientConnection.contentType", &c.KubeAPIContentType,
			"Encoding of requests to the API server.",
			oneOf(c.KubeAPIContentType, ContentTypeProtobuf, ContentTypeJSON),
			"leave it out for protobuf"),
	}
}

// LeaderElectionSettings returns the settings of the lease. They allow any value while leader election is off.
func (c *Configuration) LeaderElectionSettings() []Setting {
	e, d := &c.LeaderElection, Default().LeaderElection
	lease, renew, retry := &e.LeaseDuration.Duration, &e.RenewDeadline.Duration, &e.RetryPeriod.Duration
	settings := []Setting{
		setting("leader-elect", "leaderElection.leaderElect", &e.LeaderElect,
			"Evict only while this process holds the lease. Replicas that are not the leader keep their caches "+
				"and countdowns current. With --dry-run, the default is false.", rule{}, ""),
		setting("leader-elect-lease-duration", "leaderElection.leaseDuration", lease,
			"How long replicas wait for a leader that does not renew its lease before one of them takes over.", leaseRule(*lease),
			leaveOut(d.LeaseDuration.Duration)),
		setting("leader-elect-renew-deadline", "leaderElection.renewDeadline", renew,
			"How long the leader keeps retrying to renew the lease before it gives up.", renewRule(*renew, *lease, *retry),
			fmt.Sprintf("leave all three out for %s, %s and %s",
				d.LeaseDuration.Duration, d.RenewDeadline.Duration, d.RetryPeriod.Duration)),
		setting("leader-elect-retry-period", "leaderElection.retryPeriod", retry,
			"How long to wait between attempts to acquire or renew the lease.", retryRule(*retry),
			leaveOut(d.RetryPeriod.Duration)),
		setting("leader-elect-resource-lock", "leaderElection.resourceLock", &e.ResourceLock,
			"Lock object type.", oneOf(e.ResourceLock, leases), "leave it out"),
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
