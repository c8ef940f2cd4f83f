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
	o := s.serving
	isPort := 0 <= o.BindPort && o.BindPort <= 65535
	if isPort {
		refusals = o.Validate()
	}
	refuse(!isPort, "secure-port", "it takes "+flags.PortNumbers, "leave it out for "+strconv.Itoa(port))
	const both = "give both, or neither for a self-signed certificate"
	hasCert, hasKey := o.ServerCert.CertKey.CertFile != "", o.ServerCert.CertKey.KeyFile != ""
	refuse(hasCert && !hasKey, "tls-cert-file", "it goes with --tls-private-key-file", both)
	refuse(hasKey && !hasCert, "tls-private-key-file", "it goes with --tls-cert-file", both)
	_, err := cliflag.TLSVersion(o.MinTLSVersion)
	refuse(err != nil, "tls-min-version", "it takes "+strings.Join(cliflag.TLSPossibleVersions(), ", "),
		"leave it out for VersionTLS12")
	_, err = cliflag.TLSCipherSuites(o.CipherSuites)
	refuse(err != nil, "tls-cipher-suites", "it takes the names that 'taint-manager run --help' lists", flags.OwnChoice)
	_, err = cliflag.TLSCurvePreferences(o.CurvePreferences)
	refuse(err != nil, "tls-curve-preferences", "it takes "+flags.CurveNumbers, flags.OwnChoice)
	return refusals
}

// loggingRefusals names the flags; the shared rules name only the fields.
func (s *settings) loggingRefusals() (refusals []error) {
	refuse := func(flag, allowed, next string) {
		refusals = append(refusals, s.refusal("logging", flag, allowed, next))
	}
	for _, err := range logsapi.Validate(s.logging, nil, nil) {
		switch field, _, _ := strings.Cut(err.Field, "["); field {
		case "format":
			refuse("logging-format", "it takes text or json", "leave it out for text")
		case "flushFrequency":
			refuse(logsapi.LogFlushFreqFlagName, "it takes times above 0, such as 5s", "leave it out for 5s")
		case "vmodule":
			refuse("vmodule", "it is heard with --logging-format=text only", "leave out one of the two")
		default:
			refusals = append(refusals,
				fmt.Errorf("the logging flags are refused: %w; 'taint-manager run --help' says what they take", err))
		}
	}
	return refusals
}
