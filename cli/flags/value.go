package flags

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/internal/config"
)

// The allowed values of flags that are not settings of package config.
const (
	// PortNumbers describes the ports for serving.
	PortNumbers = "1 to 65535, or 0 for not serving"

	// CurveNumbers describes the elliptic curves for TLS.
	CurveNumbers = "the numbers of curves that this version of Go has"
)

// OwnChoice is the next step for settings that Go chooses well by itself.
const OwnChoice = "leave it out for those of Go"

// refuseValue refuses a text that is not a value of the flag's type.
func refuseValue(cmd *cobra.Command, err *pflag.InvalidValueError) error {
	flag := err.GetFlag()
	if refusal, known := config.Unreadable(flag.Name, err.GetValue()); known {
		return refusal
	}
	next := "leave it out for " + flag.DefValue
	switch {
	case flag.Value.Type() == "bool":
		next = "write --" + flag.Name + " for true"
	case flag.Value.Type() == "int32Slice":
		next = OwnChoice
	case flag.DefValue == "" || strings.HasPrefix(flag.DefValue, "["):
		next = "'" + cmd.CommandPath() + " --help' says more"
	}
	return config.Refusal{Flag: flag.Name, Value: err.GetValue(), Allowed: "it takes " + Takes(flag), Next: next}
}

// Takes describes the allowed values of a flag, by its name if that is more specific than its type.
func Takes(flag *pflag.Flag) string {
	if flag.Name == "secure-port" {
		return PortNumbers
	}
	byType := map[string]string{
		"bool":          "true or false",
		"any":           "true or false, and with plan any", // --exit-code
		"int":           "whole numbers",
		"duration":      "times such as 500ms, 10s or 1h30m",
		"ip":            "IP addresses such as 127.0.0.1 or ::1",
		"stringSlice":   "texts with commas between them",
		"int32Slice":    CurveNumbers,
		"namedCertKey":  "CERTFILE,KEYFILE or CERTFILE,KEYFILE:DOMAIN,...",
		"Level":         "0 to 2147483647",
		"pattern=N,...": "files and levels such as pool=4,api=2",
	}
	if takes := byType[flag.Value.Type()]; takes != "" {
		return takes
	}
	return "values of the type " + flag.Value.Type()
}
