package run

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/taint-manager/taint-manager/cli/usage"
)

// validateServing has clearer messages than the shared options: these describe a port over 65535 as an attempt to turn
// them off, and check the rest only once the process listens on the port.
func (s *settings) validateServing() []error {
	return slices.Concat(s.validatePort(), s.validateCertificate(), s.validateTLS())
}

func (s *settings) validatePort() []error {
	if 0 <= s.serving.BindPort && s.serving.BindPort <= 65535 {
		return s.serving.Validate()
	}
	return []error{usage.Refuse("secure-port", strconv.Itoa(s.serving.BindPort), usage.PortNumbers, "leave it out for "+
		strconv.Itoa(port))}
}

func (s *settings) validateCertificate() []error {
	const both = "give both, or neither for a self-signed certificate"
	cert, key := s.serving.ServerCert.CertKey.CertFile, s.serving.ServerCert.CertKey.KeyFile
	switch {
	case cert != "" && key == "":
		return []error{usage.Refuse("tls-cert-file", cert, "it goes with --tls-private-key-file", both)}
	case cert == "" && key != "":
		return []error{usage.Refuse("tls-private-key-file", key, "it goes with --tls-cert-file", both)}
	}
	return nil
}

func (s *settings) validateTLS() (refusals []error) {
	if _, err := cliflag.TLSVersion(s.serving.MinTLSVersion); err != nil {
		refusals = append(refusals, usage.Refuse("tls-min-version", s.serving.MinTLSVersion,
			"it takes "+strings.Join(cliflag.TLSPossibleVersions(), ", "), "leave it out for VersionTLS12"))
	}
	if _, err := cliflag.TLSCipherSuites(s.serving.CipherSuites); err != nil {
		refusals = append(refusals, usage.Refuse("tls-cipher-suites", strings.Join(s.serving.CipherSuites, ","),
			"it takes the names that 'taint-manager run --help' lists", usage.OwnChoice))
	}
	if _, err := cliflag.TLSCurvePreferences(s.serving.CurvePreferences); err != nil {
		numbers := strings.Join(strings.Fields(fmt.Sprint(s.serving.CurvePreferences)), ",")
		refusals = append(refusals, usage.Refuse("tls-curve-preferences", strings.Trim(numbers, "[]"),
			usage.CurveNumbers, usage.OwnChoice))
	}
	return refusals
}

// validateLogging names the flags; the shared rules name only the fields.
func (s *settings) validateLogging() (refusals []error) {
	for _, err := range logsapi.Validate(s.logging, nil, nil) {
		field, _, _ := strings.Cut(err.Field, "[")
		refusals = append(refusals, s.refuseLogging(field, err))
	}
	return refusals
}

func (s *settings) refuseLogging(field string, err error) error {
	switch field {
	case "format":
		return usage.Refuse("logging-format", s.logging.Format, "it takes text or json", "leave it out for text")
	case "flushFrequency":
		return usage.Refuse(logsapi.LogFlushFreqFlagName, s.logging.FlushFrequency.Duration.Duration.String(),
			"it takes times above 0, such as 5s", "leave it out for 5s")
	case "vmodule":
		return usage.Refuse("vmodule", logsapi.VModuleConfigurationPflag(&s.logging.VModule).String(),
			"it is heard with --logging-format=text only", "leave out one of the two")
	default:
		return fmt.Errorf("the logging flags are refused: %w; 'taint-manager run --help' says what they take", err)
	}
}
