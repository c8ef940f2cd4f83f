package run

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
)

// componentRefusals returns the refusals of the settings that every component of Kubernetes has.
func (s *settings) componentRefusals() []error {
	return slices.Concat(s.servingRefusals(), s.authentication.Validate(), s.authorization.Validate(),
		s.loggingRefusals())
}

// servingRefusals has clearer messages than the shared options: these describe a port over 65535 as an attempt to turn
// them off, and check the rest only once the process listens on the port.
func (s *settings) servingRefusals() (refusals []error) {
	refuse := func(wrong bool, flag, value, allowed, next string) {
		if wrong {
			refusals = append(refusals, config.Refusal{Flag: flag, Value: value, Allowed: allowed, Next: next})
		}
	}
	o := s.serving
	if 0 <= o.BindPort && o.BindPort <= 65535 {
		refusals = o.Validate()
	} else {
		refuse(true, "secure-port", strconv.Itoa(o.BindPort), "it takes "+flags.PortNumbers,
			"leave it out for "+strconv.Itoa(port))
	}
	const both = "give both, or neither for a self-signed certificate"
	cert, key := o.ServerCert.CertKey.CertFile, o.ServerCert.CertKey.KeyFile
	refuse(cert != "" && key == "", "tls-cert-file", cert, "it goes with --tls-private-key-file", both)
	refuse(cert == "" && key != "", "tls-private-key-file", key, "it goes with --tls-cert-file", both)
	_, err := cliflag.TLSVersion(o.MinTLSVersion)
	refuse(err != nil, "tls-min-version", o.MinTLSVersion,
		"it takes "+strings.Join(cliflag.TLSPossibleVersions(), ", "), "leave it out for VersionTLS12")
	_, err = cliflag.TLSCipherSuites(o.CipherSuites)
	refuse(err != nil, "tls-cipher-suites", strings.Join(o.CipherSuites, ","),
		"it takes the names that 'taint-manager run --help' lists", flags.OwnChoice)
	_, err = cliflag.TLSCurvePreferences(o.CurvePreferences)
	numbers := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(o.CurvePreferences), "[]")), ",")
	refuse(err != nil, "tls-curve-preferences", numbers, "it takes "+flags.CurveNumbers, flags.OwnChoice)
	return refusals
}

// loggingRefusals names the flags; the shared rules name only the fields.
func (s *settings) loggingRefusals() (refusals []error) {
	for _, err := range logsapi.Validate(s.logging, nil, nil) {
		field, _, _ := strings.Cut(err.Field, "[")
		refusal, known := map[string]config.Refusal{
			"format": {
				Flag: "logging-format", Value: s.logging.Format, Allowed: "it takes text or json",
				Next: "leave it out for text",
			},
			"flushFrequency": {
				Flag: logsapi.LogFlushFreqFlagName, Value: s.logging.FlushFrequency.Duration.Duration.String(),
				Allowed: "it takes times above 0, such as 5s", Next: "leave it out for 5s",
			},
			"vmodule": {
				Flag: "vmodule", Value: logsapi.VModuleConfigurationPflag(&s.logging.VModule).String(),
				Allowed: "it is heard with --logging-format=text only", Next: "leave out one of the two",
			},
		}[field]
		if known {
			refusals = append(refusals, refusal)
			continue
		}
		refusals = append(refusals,
			fmt.Errorf("the logging flags are refused: %w; 'taint-manager run --help' says what they take", err))
	}
	return refusals
}
