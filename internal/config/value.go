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

// methodValue is the value of a flag for a method. It accepts the spelling of flags and that of files.
type methodValue struct{ to *Method }

func (v methodValue) Set(text string) error { *v.to = ParseMethod(text); return nil }
func (v methodValue) String() string        { return string(*v.to) }
func (v methodValue) Type() string          { return "string" }
