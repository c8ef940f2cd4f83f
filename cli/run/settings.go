package run

import (
	"cmp"
	"errors"

	apiserveroptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
)

// port is used by no component of Kubernetes; theirs are 10248 to 10260.
const port = 10270

// settings has all settings of "run": the manager's own configuration, the settings that every component of Kubernetes
// has for serving and logging, and the other content of the configuration file.
type settings struct {
	config.Configuration
	*config.File
	serving        *apiserveroptions.SecureServingOptions
	authentication *apiserveroptions.DelegatingAuthenticationOptions
	authorization  *apiserveroptions.DelegatingAuthorizationOptions
	logging        *logsapi.LoggingConfiguration
	profiling      bool // of the secure port

	sections cliflag.NamedFlagSets  // the flags, bound to the settings
	others   []config.Setting       // the settings of the file that are flags of every component of Kubernetes
	given    func(flag string) bool // reports whether a flag was given

	configFile string // the name of the configuration file; empty: none
	content    []byte // of the configuration file
	held       bool   // whether the file "paused" beside the configuration file pauses evictions
}

// newSettings returns the default settings.
func newSettings() *settings {
	s := &settings{
		Configuration:  config.Default(),
		File:           &config.File{},
		serving:        apiserveroptions.NewSecureServingOptions(),
		authentication: apiserveroptions.NewDelegatingAuthenticationOptions(),
		authorization:  apiserveroptions.NewDelegatingAuthorizationOptions(),
		logging:        logsapi.NewLoggingConfiguration(),
		given:          func(string) bool { return false },
	}
	s.serving.BindPort = port
	s.serving.ServerCert.PairName = "taint-manager"
	s.serving.ServerCert.CertDirectory = "" // the process's own certificate stays in memory
	s.authentication.RemoteKubeConfigFileOptional = true
	s.authorization.RemoteKubeConfigFileOptional = true
	s.authentication.TolerateInClusterLookupFailure = true // metrics matter less than evictions
	s.addFlags()
	return s
}

// complete sets the settings that follow from other settings. A dry run takes the lease only if leader election is
// requested, because no replica evicts while a dry run leads.
func (s *settings) complete() {
	if s.DryRun && !s.given("leader-elect") {
		s.LeaderElection.LeaderElect = false
	}
	s.authentication.RemoteKubeConfigFile = cmp.Or(s.authentication.RemoteKubeConfigFile, s.Kubeconfig)
	s.authorization.RemoteKubeConfigFile = cmp.Or(s.authorization.RemoteKubeConfigFile, s.Kubeconfig)
}

// paused reports whether the settings, or the file beside the configuration file, pause evictions.
func (s *settings) paused() bool { return s.Paused || s.held }

// validate reports all refusals at once, one line for each.
func (s *settings) validate() error {
	if err := errors.Join(append(asErrors(s.Validate()), s.componentRefusals()...)...); err != nil {
		return flags.UsageError{Err: err}
	}
	return nil
}

func asErrors(refusals []config.Refusal) []error {
	errs := make([]error, len(refusals))
	for i, r := range refusals {
		errs[i] = r
	}
	return errs
}
