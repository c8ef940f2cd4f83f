package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// complete sets the settings that follow from other settings, and reports all refusals at once, one line for each. A
// dry run takes the lease only if leader election is requested, because no replica evicts while a dry run leads.
func (s *settings) complete() error {
	if s.DryRun && !s.given("leader-elect") {
		s.LeaderElection.LeaderElect = false
	}
	s.authentication.RemoteKubeConfigFile = cmp.Or(s.authentication.RemoteKubeConfigFile, s.Kubeconfig)
	s.authorization.RemoteKubeConfigFile = cmp.Or(s.authorization.RemoteKubeConfigFile, s.Kubeconfig)
	return errors.Join(append(asErrors(s.Validate()), s.componentRefusals()...)...)
}

func asErrors(refusals []config.Refusal) []error {
	errs := make([]error, len(refusals))
	for i, r := range refusals {
		errs[i] = r
	}
	return errs
}

// paused reports whether the settings, or the file beside the configuration file, pause evictions.
func (s *settings) paused() bool { return s.Paused || s.held }

// componentRefusals returns the refusals of the settings that every component of Kubernetes has.
func (s *settings) componentRefusals() []error {
	return slices.Concat(s.servingRefusals(), s.authentication.Validate(), s.authorization.Validate(),
		s.loggingRefusals())
}

// refusal refuses the value of a flag in a section.
func (s *settings) refusal(section, flag, allowed, next string) config.Refusal {
	value := strings.Trim(s.sections.FlagSet(section).Lookup(flag).Value.String(), "[]") // of a list
	return config.Refusal{Flag: flag, Value: value, Allowed: allowed, Next: next}
}

// servingRefusals has clearer messages than the shared options: these describe a port over 65535 as an attempt to turn
// them off, and check the rest only once the process listens on the port.
func (s *settings) servingRefusals() (refusals []error) {
	refuse := func(wrong bool, flag, allowed, next string) {
		if wrong {
			refusals = append(refusals, s.refusal("secure serving", flag, allowed, next))
		}
	}
	const both = "give both, or neither for a self-signed certificate"
	o := s.serving
	isPort := 0 <= o.BindPort && o.BindPort <= 65535
	if isPort {
		refusals = o.Validate()
	}
	hasCert, hasKey := o.ServerCert.CertKey.CertFile != "", o.ServerCert.CertKey.KeyFile != ""
	_, version := cliflag.TLSVersion(o.MinTLSVersion)
	_, suites := cliflag.TLSCipherSuites(o.CipherSuites)
	_, curves := cliflag.TLSCurvePreferences(o.CurvePreferences)
	refuse(!isPort, "secure-port", "it takes "+flags.PortNumbers, "leave it out for "+strconv.Itoa(port))
	refuse(hasCert && !hasKey, "tls-cert-file", "it goes with --tls-private-key-file", both)
	refuse(hasKey && !hasCert, "tls-private-key-file", "it goes with --tls-cert-file", both)
	refuse(version != nil, "tls-min-version", "it takes "+strings.Join(cliflag.TLSPossibleVersions(), ", "),
		"leave it out for VersionTLS12")
	refuse(suites != nil, "tls-cipher-suites", "it takes the names that 'taint-manager run --help' lists",
		flags.OwnChoice)
	refuse(curves != nil, "tls-curve-preferences", "it takes "+flags.CurveNumbers, flags.OwnChoice)
	return refusals
}

// loggingRefusals names the flags; the shared rules name only the fields.
func (s *settings) loggingRefusals() (refusals []error) {
	for _, err := range logsapi.Validate(s.logging, nil, nil) {
		refusal := fmt.Errorf("the logging flags are refused: %w; 'taint-manager run --help' says what they take", err)
		switch field, _, _ := strings.Cut(err.Field, "["); field {
		case "format":
			refusal = s.refusal("logging", "logging-format", "it takes text or json", "leave it out for text")
		case "flushFrequency":
			refusal = s.refusal("logging", logsapi.LogFlushFreqFlagName, "it takes times above 0, such as 5s",
				"leave it out for 5s")
		case "vmodule":
			refusal = s.refusal("logging", "vmodule", "it is heard with --logging-format=text only",
				"leave out one of the two")
		}
		refusals = append(refusals, refusal)
	}
	return refusals
}
