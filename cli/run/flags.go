package run

import (
	"strings"

	"github.com/spf13/pflag"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json

	"github.com/taint-manager/taint-manager/cli/flags"
)

// addFlags adds the flags of "run", in sections.
func (s *settings) addFlags() {
	section := s.sections.FlagSet
	s.Configuration.AddFlags(section("eviction"))
	s.ClientConnection.AddFlags(section("API server"))
	s.LeaderElection.AddFlags(section("leader election"))
	s.serving.AddFlags(section("secure serving"))
	section("secure serving").BoolVar(&s.Serving.Profiling, "profiling", s.Serving.Profiling,
		"Serve profiles at /debug/pprof to clients that may get this path.")
	s.authentication.AddFlags(section("authentication"))
	s.authorization.AddFlags(section("authorization"))
	s.loggingFlags(section("logging"))
	flags.FileVar(section("other"), &s.configFile, "config",
		"Path of a configuration `FILE`; 'taint-manager config defaults' prints one. Flags override it.")
	section("other").BoolP("help", "h", false, "print this help")
	// the texts of this program, in addition to the shared texts
	add := func(of, flag, text string) { section(of).Lookup(flag).Usage += " " + text }
	add("secure serving", "secure-port", "Serves /healthz, /livez, /readyz and /metrics. 10270 is used by no component of Kubernetes.")
	add("secure serving", "cert-dir", "If empty, a self-signed certificate is kept in memory.")
	add("authentication", "authentication-kubeconfig", "The same as --kubeconfig when not set.")
	add("authorization", "authorization-kubeconfig", "The same as --kubeconfig when not set.")
}

// loggingFlags omits flags that require a feature gate, because this program has none.
func (s *settings) loggingFlags(fs *pflag.FlagSet) {
	var all pflag.FlagSet
	logsapi.AddFlags(s.logging, &all)
	all.VisitAll(func(f *pflag.Flag) {
		if !strings.HasPrefix(f.Usage, "[Alpha]") {
			fs.AddFlag(f)
		}
	})
}

const runHelp = `Watch the cluster, and evict pods from nodes whose NoExecute taints they do not tolerate.

Several replicas may run: one leads and evicts, the others stand by with warm caches. Once one
leads, switch the original off on every control-plane node: keep the list that
kube-controller-manager has in --controllers, and append -taint-eviction-controller.

With --dry-run it evicts no pod and leaves the lease alone, so it may run beside the original, or
beside a taint-manager that evicts.

To stop all evictions at once, delete the ClusterRoleBinding taint-manager-evictions. What is due
is kept, and goes on once the binding is back. Scaling to zero, or restarting all replicas with
--dry-run, stops them too. SIGTERM and SIGINT end the process once the calls under way have ended;
a second signal ends it at once.

Usage:
  taint-manager run [flags]

Examples:
  # Log what would be evicted, and write nothing
  taint-manager run --kubeconfig=$HOME/.kube/config --dry-run

  # Obey PodDisruptionBudgets, ten evictions a second at most
  taint-manager run --eviction-method=evict --max-evictions-per-second=10

  # With policies; 'taint-manager config validate' checks the file
  taint-manager run --config=config.yaml

Exit codes: 0 ended after SIGTERM or an interrupt, 1 cannot run, 2 wrong usage.
`
