package usage

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/config"
)

// The allowed values of flags that are not settings of package config.
const (
	// PortNumbers describes the ports for serving.
	PortNumbers = "it takes 1 to 65535, or 0 for not serving"

	// CurveNumbers describes the elliptic curves for TLS.
	CurveNumbers = "it takes the numbers of curves that this version of Go has"

	levels = "it takes 0 to 2147483647"
)

// OwnChoice is the next step for settings that Go chooses well by itself.
const OwnChoice = "leave it out for those of Go"

// Refuse returns the refusal of a flag's value, with what is allowed and the next step.
func Refuse(flag, value, allowed, next string) error {
	return config.Refusal{Flag: flag, Value: value, Allowed: allowed, Next: next}
}

// unreadableValue refuses a text that is not a value of the flag's type.
func unreadableValue(cmd *cobra.Command, err *pflag.InvalidValueError) error {
	flag := err.GetFlag()
	if refusal, known := config.Unreadable(flag.Name, err.GetValue()); known {
		return Wrap(refusal)
	}
	return Wrap(Refuse(flag.Name, err.GetValue(), Takes(flag), without(cmd, flag)))
}

// Takes describes the allowed values of a flag, by its name if that is more specific than its type.
func Takes(flag *pflag.Flag) string {
	if flag.Name == "secure-port" {
		return PortNumbers
	}
	switch kind := flag.Value.Type(); kind {
	case "bool":
		return "it takes true or false"
	case "any": // --exit-code
		return "it takes true or false, and with plan any"
	case "int":
		return "it takes whole numbers"
	case "duration":
		return "it takes times such as 500ms, 10s or 1h30m"
	case "ip":
		return "it takes IP addresses such as 127.0.0.1 or ::1"
	case "stringSlice":
		return "it takes texts with commas between them"
	case "int32Slice":
		return CurveNumbers
	case "namedCertKey":
		return "it takes CERTFILE,KEYFILE or CERTFILE,KEYFILE:DOMAIN,..."
	case "Level":
		return levels
	case "pattern=N,...":
		return "it takes files and levels such as pool=4,api=2"
	default:
		return "it takes values of the type " + kind
	}
}

// without returns what to do instead of setting that value.
func without(cmd *cobra.Command, flag *pflag.Flag) string {
	switch {
	case flag.Value.Type() == "bool":
		return fmt.Sprintf("write --%s for true", flag.Name)
	case flag.Value.Type() == "int32Slice":
		return OwnChoice
	case flag.DefValue == "" || strings.HasPrefix(flag.DefValue, "["):
		return fmt.Sprintf("'%s --help' says more", cmd.CommandPath())
	}
	return "leave it out for " + flag.DefValue
}
