package cli

import (
	"strings"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/config/options"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
)

// flags are the flags of "run" in sections, bound to the settings.
func (s *settings) flags() cliflag.NamedFlagSets {
	var sections cliflag.NamedFlagSets
	s.evictionFlags(sections.FlagSet("eviction"))
	s.apiServerFlags(sections.FlagSet("API server"))
	options.BindLeaderElectionFlags(&s.LeaderElection, sections.FlagSet("leader election"))
	s.serving.AddFlags(sections.FlagSet("secure serving"))
	s.authentication.AddFlags(sections.FlagSet("authentication"))
	s.authorization.AddFlags(sections.FlagSet("authorization"))
	s.loggingFlags(sections.FlagSet("logging"))
	sections.FlagSet("other").BoolP("help", "h", false, "print this help")
	s.explain(&sections)
	return sections
}

func (s *settings) evictionFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&s.DryRun, "dry-run", s.DryRun,
		"Judge and log, but write neither to pods nor events, and take no part in leader election unless --leader-elect=true is given. "+
			"It may run beside whoever evicts.")
	fs.StringVar(&s.EvictionMethod, "eviction-method", s.EvictionMethod,
		"How pods are made to go: delete does as the original and passes PodDisruptionBudgets by; evict obeys them.")
	fs.IntVar(&s.EvictionWorkers, "eviction-workers", s.EvictionWorkers,
		"How many eviction calls may be under way at once, 1 to 1000.")
	fs.Float64Var(&s.MaxEvictionsPerSecond, "max-evictions-per-second", s.MaxEvictionsPerSecond,
		"How many eviction calls may start in a second. 0: no limit.")
	fs.IntVar(&s.Shards, "shards", s.Shards,
		"How many goroutines judge pods, each for its own part of the nodes, 1 to 256.")
	fs.StringVar(&s.StatusAddress, "status-address", s.StatusAddress,
		"Where to serve the page and its JSON, on loopback; see it by kubectl port-forward. If empty, nowhere.")
	fs.BoolVar(&s.ComparisonOperators, "comparison-operators", s.ComparisonOperators,
		"Let tolerations with the operators Lt and Gt count. If false, they match nothing.")
}

func (s *settings) apiServerFlags(fs *pflag.FlagSet) {
	fs.StringVar(&s.Kubeconfig, "kubeconfig", s.Kubeconfig,
		"Path of the kubeconfig file. If empty, the service account of the pod that this runs in.")
	fs.Float32Var(&s.KubeAPIQPS, "kube-api-qps", s.KubeAPIQPS,
		"Requests a second to the API server, those for the lease excepted. 0 or -1: no limit on this side, as "+
			"the API server's priority and fairness is the brake. Else 1 to 100000.")
	fs.IntVar(&s.KubeAPIBurst, "kube-api-burst", s.KubeAPIBurst,
		"Requests at once on top of --kube-api-qps. 0: as many as it allows in a second.")
	fs.StringVar(&s.KubeAPIContentType, "kube-api-content-type", s.KubeAPIContentType,
		"How requests are encoded: application/vnd.kubernetes.protobuf or application/json.")
}

// explain adds what the shared texts can't say of this program.
func (s *settings) explain(sections *cliflag.NamedFlagSets) {
	add := func(section, flag, text string) { sections.FlagSets[section].Lookup(flag).Usage += " " + text }
	add("secure serving", "secure-port", "Serves /healthz, /livez, /readyz and /metrics. 10270 is used by no component of Kubernetes.")
	add("secure serving", "cert-dir", "If empty, a self-signed certificate is kept in memory.")
	add("authentication", "authentication-kubeconfig", "The same as --kubeconfig when not set.")
	add("authorization", "authorization-kubeconfig", "The same as --kubeconfig when not set.")
	add("leader election", "leader-elect", "Those that do not lead keep their caches and countdowns current. With --dry-run, false when not set.")
}

// loggingFlags leaves out flags that need a feature gate, because this program has none.
func (s *settings) loggingFlags(fs *pflag.FlagSet) {
	var all pflag.FlagSet
	logsapi.AddFlags(s.logging, &all)
	all.VisitAll(func(f *pflag.Flag) {
		if !strings.HasPrefix(f.Usage, "[Alpha]") {
			fs.AddFlag(f)
		}
	})
}
