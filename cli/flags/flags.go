// Package flags adds the flags of settings to commands, and refuses wrong command lines in one sentence, with the next
// step. The names, defaults and help of settings come from package config.
package flags

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/internal/config"
)

// Bind adds the flags of the settings. It panics if a setting has a type without a flag.
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

// BindJudging adds the flags of the settings that affect verdicts, and the named flags. Commands that look ahead have
// them, so that they can use the manager's settings.
func BindJudging(fs *pflag.FlagSet, c *config.Configuration, named ...string) {
	Bind(fs, slices.DeleteFunc(c.Settings(), func(s config.Setting) bool {
		return !s.Judges && !slices.Contains(named, s.Flag)
	}))
}

// method is the value of a flag for a method. It accepts the spelling of the flags and that of Kubernetes: evict and
// Evict.
type method struct{ to *config.Method }

func (m method) Set(text string) error { *m.to = config.ParseMethod(text); return nil }
func (m method) String() string        { return string(*m.to) }
func (m method) Type() string          { return "string" }
