// Package flags adds the flags of settings to a command: their names, defaults and help are those of package
// config.
package flags

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/config"
)

// Bind adds the flags of the settings. It panics on a setting of a type that no flag has.
func Bind(fs *pflag.FlagSet, settings []config.Setting) {
	for _, s := range settings {
		switch value := s.Value.(type) {
		case *bool:
			fs.BoolVar(value, s.Flag, *value, s.Help())
		case *int:
			fs.IntVar(value, s.Flag, *value, s.Help())
		case *float32:
			fs.Float32Var(value, s.Flag, *value, s.Help())
		case *float64:
			fs.Float64Var(value, s.Flag, *value, s.Help())
		case *string:
			fs.StringVar(value, s.Flag, *value, s.Help())
		case *config.Method:
			fs.Var(method{value}, s.Flag, s.Help())
		case *time.Duration:
			fs.DurationVar(value, s.Flag, *value, s.Help())
		default:
			panic(fmt.Sprintf("flags: --%s has a value of type %T", s.Flag, s.Value))
		}
	}
}

// BindJudging adds the flags of the settings that change verdicts, and the named ones. A command that looks ahead
// has them, to be given what the manager runs with.
func BindJudging(fs *pflag.FlagSet, c *config.Configuration, named ...string) {
	Bind(fs, slices.DeleteFunc(c.Settings(), func(s config.Setting) bool {
		return !s.Judges && !slices.Contains(named, s.Flag)
	}))
}

// method is the value of a flag that takes a method as the flags write it, and as Kubernetes does: evict and Evict.
type method struct{ to *config.Method }

func (m method) Set(text string) error { *m.to = config.ParseMethod(text); return nil }
func (m method) String() string        { return string(*m.to) }
func (m method) Type() string          { return "string" }
