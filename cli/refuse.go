package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/taint-manager/taint-manager/config"
)

// ownChoice is the next step for what Go chooses well by itself.
const ownChoice = "leave it out for those of Go"

// validateServing says it better than the shared options: they call a port over 65535 an attempt to
// turn them off, and look at the rest only once the port is taken.
func (s *settings) validateServing() []error {
	return slices.Concat(s.validatePort(), s.validateTLS())
}

func (s *settings) validatePort() []error {
	if 0 <= s.serving.BindPort && s.serving.BindPort <= 65535 {
		return s.serving.Validate()
	}
	return []error{config.Refusal{
		Flag: "secure-port", Value: strconv.Itoa(s.serving.BindPort),
		Allowed: portTaken, Next: "leave it out for " + strconv.Itoa(port),
	}}
}

func (s *settings) validateTLS() (refusals []error) {
	refuse := func(flag, value, allowed, next string) {
		refusals = append(refusals, config.Refusal{Flag: flag, Value: value, Allowed: allowed, Next: next})
	}
	if _, err := cliflag.TLSVersion(s.serving.MinTLSVersion); err != nil {
		refuse("tls-min-version", s.serving.MinTLSVersion, "it takes "+strings.Join(cliflag.TLSPossibleVersions(), ", "), "leave it out for VersionTLS12")
	}
	if _, err := cliflag.TLSCipherSuites(s.serving.CipherSuites); err != nil {
		refuse("tls-cipher-suites", strings.Join(s.serving.CipherSuites, ","), "it takes the names that 'taint-manager run --help' lists", ownChoice)
	}
	if _, err := cliflag.TLSCurvePreferences(s.serving.CurvePreferences); err != nil {
		numbers := strings.Join(strings.Fields(fmt.Sprint(s.serving.CurvePreferences)), ",")
		refuse("tls-curve-preferences", strings.Trim(numbers, "[]"), curvesTaken, ownChoice)
	}
	return refusals
}

// validateLogging names the flags, of which the shared rules know only the fields.
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
		return config.Refusal{Flag: "logging-format", Value: s.logging.Format, Allowed: "it takes text or json", Next: "leave it out for text"}
	case "flushFrequency":
		return config.Refusal{
			Flag: logsapi.LogFlushFreqFlagName, Value: s.logging.FlushFrequency.Duration.Duration.String(),
			Allowed: "it takes times above 0, such as 5s", Next: "leave it out for 5s",
		}
	case "vmodule":
		return config.Refusal{
			Flag: "vmodule", Value: logsapi.VModuleConfigurationPflag(&s.logging.VModule).String(),
			Allowed: "it is heard with --logging-format=text only", Next: "leave out one of the two",
		}
	default:
		return fmt.Errorf("the logging flags are refused: %w; 'taint-manager run --help' says what they take", err)
	}
}
