package run

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json

	"github.com/taint-manager/taint-manager/cli/flags"
)

// addFlags adds the flags of "run", in sections.
func (s *settings) addFlags() {
	section := s.sections.FlagSet
	s.AddFlags(section("eviction"))
	s.ClientConnection.AddFlags(section("API server"))
	s.LeaderElection.AddFlags(section("leader election"))
	s.serving.AddFlags(section("secure serving"))
	section("secure serving").BoolVar(&s.Serving.Profiling, "profiling", s.Serving.Profiling,
		"Serve profiles of the process at /debug/pprof, to clients that are authorized to get this path.")
	s.authentication.AddFlags(section("authentication"))
	s.authorization.AddFlags(section("authorization"))
	s.loggingFlags(section("logging"))
	flags.FileVar(section("other"), &s.configFile, "config",
		"Path of a configuration `FILE`; 'taint-manager config defaults' prints one. Flags override the file.")
	// usage texts of this program, in addition to the shared ones
	add := func(of, flag, text string) { section(of).Lookup(flag).Usage += " " + text }
	add("secure serving", "secure-port", "Serves /healthz, /livez, /readyz and /metrics. The default, 10270, is not used by any Kubernetes component.")
	add("secure serving", "cert-dir", "If empty, a self-signed certificate is kept in memory.")
	const remote = "Path of a kubeconfig `FILE` for requests to %s. " +
		"Defaults to --kubeconfig, or else to the service account of the pod."
	asks := func(name, resource string) {
		section(name).Lookup(name + "-kubeconfig").Usage = fmt.Sprintf(remote, resource)
	}
	asks("authentication", "tokenreviews.authentication.k8s.io")
	asks("authorization", "subjectaccessreviews.authorization.k8s.io")
}

// loggingFlags adds the flags of logging, except those that require a feature gate, because this program has none.
func (s *settings) loggingFlags(fs *pflag.FlagSet) {
	var all pflag.FlagSet
	logsapi.AddFlags(s.logging, &all)
	all.VisitAll(func(f *pflag.Flag) {
		if !strings.HasPrefix(f.Usage, "[Alpha]") {
			fs.AddFlag(f)
		}
	})
}

const runHelp = `Watch the cluster and evict pods that do not tolerate the NoExecute taints of their node.

Several replicas can run: one leads and evicts, the others stand by. Once a replica leads, disable
the built-in controller on every control-plane node: append -taint-eviction-controller to the existing
--controllers list of kube-controller-manager. With --dry-run, evictions are only logged. To stop all
evictions at once, delete the ClusterRoleBinding taint-manager-evictions; evictions resume when the
binding is restored. On SIGTERM or SIGINT, taint-manager finishes the calls in flight and exits.

Usage:
  taint-manager run [flags]

Examples:
  # Log evictions without performing them; can run alongside kube-controller-manager
  taint-manager run --kubeconfig=$HOME/.kube/config --dry-run

  # Evict pods
  taint-manager run

  # Respect PodDisruptionBudgets, and start at most ten evictions a second
  taint-manager run --eviction-method=evict --max-evictions-per-second=10

  # Use policies; "taint-manager config validate" checks the file
  taint-manager run --config=config.yaml

Exit codes: 0: ended by SIGTERM or SIGINT; 1: error; 2: wrong usage.
`
