package config

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// flagValue returns the value of a flag that sets the field to which a pointer points.
func flagValue(field any) pflag.Value {
	const name = "field"
	var fs pflag.FlagSet
	switch to := field.(type) {
	case *bool:
		fs.BoolVar(to, name, *to, "")
	case *int:
		fs.IntVar(to, name, *to, "")
	case *float32:
		fs.Float32Var(to, name, *to, "")
	case *float64:
		fs.Float64Var(to, name, *to, "")
	case *string:
		fs.StringVar(to, name, *to, "")
	case *time.Duration:
		fs.DurationVar(to, name, *to, "")
	case *Method:
		return methodValue{to}
	default:
		panic(fmt.Sprintf("config: no flag sets a %T", field))
	}
	return fs.Lookup(name).Value
}

// methodValue is the value of a flag for a method.
type methodValue struct{ to *Method }

func (m methodValue) String() string { return string(*m.to) }
func (m methodValue) Type() string   { return "string" }

// Set accepts the spelling of flags and the spelling of files, delete and Delete. It takes any other text as it is, for
// validation to refuse.
func (m methodValue) Set(text string) error {
	*m.to = Method(text)
	for _, known := range methods() {
		if text == string(known.Policy()) {
			*m.to = known
		}
	}
	return nil
}
