package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apiserveroptions "k8s.io/apiserver/pkg/server/options"
	logsapi "k8s.io/component-base/logs/api/v1"

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

// complete fills what follows from other settings.
func (s *settings) complete() {
	if s.authentication.RemoteKubeConfigFile == "" {
		s.authentication.RemoteKubeConfigFile = s.Kubeconfig
	}
	if s.authorization.RemoteKubeConfigFile == "" {
		s.authorization.RemoteKubeConfigFile = s.Kubeconfig
	}
}

// validate names all that is refused at once, a line for each.
func (s *settings) validate() error {
	var lines []string
	for _, refusal := range s.Validate() {
		lines = append(lines, refusal.Error())
	}
	for _, err := range slices.Concat(s.validatePort(), s.authentication.Validate(), s.authorization.Validate(), s.validateLogging()) {
		lines = append(lines, err.Error())
	}
	if len(lines) == 0 {
		return nil
	}
	return usageError{errors.New(strings.Join(lines, "\n"))}
}

// validatePort says it better than the options, which call a port over 65535 an attempt to turn them
// off.
func (s *settings) validatePort() []error {
	if 0 <= s.serving.BindPort && s.serving.BindPort <= 65535 {
		return s.serving.Validate()
	}
	return []error{config.Refusal{
		Flag: "secure-port", Value: strconv.Itoa(s.serving.BindPort),
		Allowed: "it takes 1 to 65535, or 0 for not serving", Next: "leave it out for " + strconv.Itoa(port),
	}}
}

func (s *settings) validateLogging() []error {
	var errs []error
	for _, err := range logsapi.Validate(s.logging, nil, nil) {
		errs = append(errs, fmt.Errorf("the logging flags are refused: %w; 'taint-manager run --help' says what they take", err))
	}
	return errs
}
