package run

import (
	"errors"

	apiserveroptions "k8s.io/apiserver/pkg/server/options"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/policy"
)

// port is used by no component of Kubernetes; theirs are 10248 to 10260.
const port = 10270

// settings has all settings of "run": the manager's own configuration, and those that every component of Kubernetes has
// for serving and logging.
type settings struct {
	config.Configuration
	serving        *apiserveroptions.SecureServingOptions
	authentication *apiserveroptions.DelegatingAuthenticationOptions
	authorization  *apiserveroptions.DelegatingAuthorizationOptions
	logging        *logsapi.LoggingConfiguration

	// others are the settings of the file that are flags of every component of Kubernetes.
	others []config.Setting

	// configFile is the name of the configuration file; empty means none. overridden are the flags that take precedence
	// over it.
	configFile string
	overridden []string

	// content is that of the file, with its policies and guards.
	content  []byte
	policies []policy.Policy
	guards   policy.Guards

	// given reports whether a flag was given.
	given func(flag string) bool
}

func defaultSettings() *settings {
	s := &settings{
		Configuration:  config.Default(),
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
	return s
}

// complete sets what follows from other settings. A dry run takes the lease only if leader election is requested,
// because no replica evicts while a dry run leads.
func (s *settings) complete(given func(flag string) bool) {
	if s.DryRun && !given("leader-elect") {
		s.LeaderElection.LeaderElect = false
	}
	if s.authentication.RemoteKubeConfigFile == "" {
		s.authentication.RemoteKubeConfigFile = s.Kubeconfig
	}
	if s.authorization.RemoteKubeConfigFile == "" {
		s.authorization.RemoteKubeConfigFile = s.Kubeconfig
	}
}

// validate reports all refusals at once, one line for each.
func (s *settings) validate() error {
	if refusals := s.refusals(); len(refusals) > 0 {
		return flags.UsageError{Err: errors.Join(refusals...)}
	}
	return nil
}

func (s *settings) refusals() []error {
	return append(asErrors(s.Validate()), s.componentRefusals()...)
}
