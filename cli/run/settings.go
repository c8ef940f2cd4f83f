package run

import (
	"cmp"
	"errors"
	"net"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiserveroptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
)

// settings has all settings of "run": the configuration, and the options that every component of Kubernetes has for
// serving and logging. Flags set these options; the configuration has the values of the file.
type settings struct {
	config.Configuration
	serving        *apiserveroptions.SecureServingOptions
	authentication *apiserveroptions.DelegatingAuthenticationOptions
	authorization  *apiserveroptions.DelegatingAuthorizationOptions
	logging        *logsapi.LoggingConfiguration

	sections cliflag.NamedFlagSets  // the flags, bound to the settings
	given    func(flag string) bool // reports whether a flag was given

	overridden []string // the flags that override a field of the file

	configFile   string // the name of the configuration file; empty: none
	content      []byte // of the configuration file
	pausedByFile bool   // the file "paused" next to the configuration file pauses evictions
}

// newSettings returns the default settings.
func newSettings() *settings {
	s := &settings{
		Configuration:  config.Default(),
		serving:        apiserveroptions.NewSecureServingOptions(),
		authentication: apiserveroptions.NewDelegatingAuthenticationOptions(),
		authorization:  apiserveroptions.NewDelegatingAuthorizationOptions(),
		logging:        logsapi.NewLoggingConfiguration(),
		given:          func(string) bool { return false },
	}
	s.serving.ServerCert.PairName = "taint-manager"
	s.authentication.RemoteKubeConfigFileOptional = true
	s.authorization.RemoteKubeConfigFileOptional = true
	_ = s.apply() // the defaults are valid
	s.addFlags()
	return s
}

// apply copies the values of the configuration to the options that every component of Kubernetes has.
func (s *settings) apply() error {
	f, o := &s.Serving, s.serving
	o.BindAddress, o.BindPort = net.ParseIP(f.BindAddress), f.SecurePort
	o.ServerCert.CertDirectory = f.CertDir
	o.ServerCert.CertKey.CertFile, o.ServerCert.CertKey.KeyFile = f.TLSCertFile, f.TLSPrivateKeyFile
	o.CipherSuites, o.CurvePreferences, o.MinTLSVersion = f.TLSCipherSuites, f.TLSCurvePreferences, f.TLSMinVersion
	o.HTTP2MaxStreamsPerConnection, o.DisableHTTP2Serving = f.HTTP2MaxStreamsPerConnection, f.DisableHTTP2Serving
	o.PermitAddressSharing, o.PermitPortSharing = f.PermitAddressSharing, f.PermitPortSharing
	a, in := &s.Authentication, s.authentication
	in.RemoteKubeConfigFile, in.ClientCert.ClientCA = a.Kubeconfig, a.ClientCAFile
	in.SkipInClusterLookup, in.TolerateInClusterLookupFailure = a.SkipLookup, a.TolerateLookupFailure
	in.CacheTTL = a.TokenWebhookCacheTTL.Duration
	in.RequestHeader.ClientCAFile = a.RequestheaderClientCAFile
	in.RequestHeader.AllowedNames = a.RequestheaderAllowedNames
	in.RequestHeader.UsernameHeaders = a.RequestheaderUsernameHeaders
	in.RequestHeader.UIDHeaders = a.RequestheaderUIDHeaders
	in.RequestHeader.GroupHeaders = a.RequestheaderGroupHeaders
	in.RequestHeader.ExtraHeaderPrefixes = a.RequestheaderExtraHeadersPrefix
	z, to := &s.Authorization, s.authorization
	to.RemoteKubeConfigFile, to.AlwaysAllowPaths = z.Kubeconfig, z.AlwaysAllowPaths
	to.AllowCacheTTL, to.DenyCacheTTL = z.WebhookCacheAuthorizedTTL.Duration, z.WebhookCacheUnauthorizedTTL.Duration
	s.logging.Format, s.logging.Verbosity = s.Logging.Format, logsapi.VerbosityLevel(s.Logging.Verbosity)
	s.logging.FlushFrequency.Duration = s.Logging.FlushFrequency
	s.logging.VModule = nil
	if s.Logging.VModule == "" {
		return nil
	}
	if err := logsapi.VModuleConfigurationPflag(&s.logging.VModule).Set(s.Logging.VModule); err != nil {
		return field.Invalid(field.NewPath("logging", "vmodule"), s.Logging.VModule, err.Error())
	}
	return nil
}

// complete sets the settings that follow from other settings, and returns every error, one line for each. A dry run
// takes the lease only if leader election is requested, because no replica evicts while a dry run leads.
func (s *settings) complete() error {
	if s.DryRun && !s.given("leader-elect") {
		s.LeaderElection.LeaderElect = false
	}
	kubeconfig := s.ClientConnection.Kubeconfig
	s.authentication.RemoteKubeConfigFile = cmp.Or(s.authentication.RemoteKubeConfigFile, kubeconfig)
	s.authorization.RemoteKubeConfigFile = cmp.Or(s.authorization.RemoteKubeConfigFile, kubeconfig)
	return errors.Join(flags.FieldErrors(s.Validate(), s.given), flags.FieldErrors(s.componentErrors(), s.given))
}

// paused reports whether the settings, or the file next to the configuration file, pause evictions.
func (s *settings) paused() bool { return s.Paused || s.pausedByFile }

// componentErrors returns the errors of the options that every component of Kubernetes has.
func (s *settings) componentErrors() []error {
	return slices.Concat(s.servingErrors(), s.authentication.Validate(), s.authorization.Validate(),
		s.loggingErrors())
}

// servingErrors also returns errors that the shared options would find only once the process listens on its port. It
// checks the port itself: the shared options describe a port over 65535 as an attempt to turn off serving.
func (s *settings) servingErrors() (errs []error) {
	at, o := field.NewPath("serving"), s.serving
	valid := *o
	if valid.BindPort = min(max(o.BindPort, 0), 65535); valid.BindPort != o.BindPort {
		errs = append(errs, field.Invalid(at.Child("securePort"), o.BindPort, validation.InclusiveRangeError(0, 65535)))
	}
	errs = append(errs, valid.Validate()...)
	if o.BindAddress == nil {
		errs = append(errs, field.Invalid(at.Child("bindAddress"), s.Serving.BindAddress, "must be an IP address"))
	}
	if (o.ServerCert.CertKey.CertFile == "") != (o.ServerCert.CertKey.KeyFile == "") {
		errs = append(errs, field.Required(at, "set both tlsCertFile (--tls-cert-file) and tlsPrivateKeyFile (--tls-private-key-file), or neither"))
	}
	if _, err := cliflag.TLSVersion(o.MinTLSVersion); err != nil {
		versions := cliflag.TLSPossibleVersions()
		errs = append(errs, field.NotSupported(at.Child("tlsMinVersion"), o.MinTLSVersion, versions))
	}
	if _, err := cliflag.TLSCipherSuites(o.CipherSuites); err != nil {
		errs = append(errs, field.Invalid(at.Child("tlsCipherSuites"), o.CipherSuites, err.Error()))
	}
	if _, err := cliflag.TLSCurvePreferences(o.CurvePreferences); err != nil {
		errs = append(errs, field.Invalid(at.Child("tlsCurvePreferences"), o.CurvePreferences, err.Error()))
	}
	return errs
}

func (s *settings) loggingErrors() []error {
	errs := logsapi.Validate(s.logging, nil, field.NewPath("logging"))
	list := make([]error, len(errs))
	for i, err := range errs {
		list[i] = err
	}
	return list
}
