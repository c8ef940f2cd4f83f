package run

import (
	"errors"
	"slices"

	apiserveroptions "k8s.io/apiserver/pkg/server/options"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/taint-manager/taint-manager/cli/usage"
	"github.com/taint-manager/taint-manager/config"
)

// port is used by no component of Kubernetes; theirs are 10248 to 10260.
const port = 10270

// settings is all that can be set on "run": the manager's own configuration, and what every
// component of Kubernetes has for serving and logging.
type settings struct {
	config.Configuration
	serving        *apiserveroptions.SecureServingOptions
	authentication *apiserveroptions.DelegatingAuthenticationOptions
	authorization  *apiserveroptions.DelegatingAuthorizationOptions
	logging        *logsapi.LoggingConfiguration

	// others are the settings of the file that are flags of every component of Kubernetes.
	others []config.Setting

	// configFile names the configuration file; empty: there is none. overridden are the flags that win over it.
	configFile string
	overridden []string
}

func defaultSettings() *settings {
	s := &settings{
		Configuration:  config.Default(),
		serving:        apiserveroptions.NewSecureServingOptions(),
		authentication: apiserveroptions.NewDelegatingAuthenticationOptions(),
		authorization:  apiserveroptions.NewDelegatingAuthorizationOptions(),
		logging:        logsapi.NewLoggingConfiguration(),
	}
	s.serving.BindPort = port
	s.serving.ServerCert.PairName = "taint-manager"
	s.serving.ServerCert.CertDirectory = "" // a certificate of its own stays in memory
	s.authentication.RemoteKubeConfigFileOptional = true
	s.authorization.RemoteKubeConfigFileOptional = true
	s.authentication.TolerateInClusterLookupFailure = true // metrics are worth less than evictions
	return s
}

// complete fills what follows from other settings. A dry run takes the lease only when it is told to:
// while it led, nobody would evict.
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

// validate names all that is refused at once, a line for each.
func (s *settings) validate() error {
	if refusals := s.refusals(); len(refusals) > 0 {
		return usage.Wrap(errors.Join(refusals...))
	}
	return nil
}

func (s *settings) refusals() []error {
	return slices.Concat(asErrors(s.Validate()), s.validateServing(), s.authentication.Validate(), s.authorization.Validate(), s.validateLogging())
}
