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
	sections := &s.sections
	flags.Bind(sections.FlagSet("eviction"), s.EvictionSettings())
	flags.Bind(sections.FlagSet("API server"), s.ClientSettings())
	flags.Bind(sections.FlagSet("leader election"), s.LeaderElectionSettings())
	s.serving.AddFlags(sections.FlagSet("secure serving"))
	sections.FlagSet("secure serving").BoolVar(&s.profiling, "profiling", false,
		"Serve profiles of the process at /debug/pprof, to clients that may get this path.")
	s.authentication.AddFlags(sections.FlagSet("authentication"))
	s.authorization.AddFlags(sections.FlagSet("authorization"))
	s.loggingFlags(sections.FlagSet("logging"))
	sections.FlagSet("other").StringVar(&s.configFile, "config", "",
		"Path of a configuration `FILE`; 'taint-manager config defaults' prints one. Flags that are given win over it.")
	sections.FlagSet("other").BoolP("help", "h", false, "print this help")
	// the texts of this program, beside the shared texts
	add := func(section, flag, text string) { sections.FlagSet(section).Lookup(flag).Usage += " " + text }
	add("secure serving", "secure-port", "Serves /healthz, /livez, /readyz and /metrics. 10270 is used by no component of Kubernetes.")
	add("secure serving", "cert-dir", "If empty, a self-signed certificate is kept in memory.")
	add("authentication", "authentication-kubeconfig", "The same as --kubeconfig when not set.")
	add("authorization", "authorization-kubeconfig", "The same as --kubeconfig when not set.")
	s.others = fieldsOf(sections)
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
