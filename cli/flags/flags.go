// Package flags adds the flags of settings to commands, and refuses wrong command lines in one sentence, with the next
// step. The names, defaults and help of settings come from package config.
package flags

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/internal/config"
)

// Bind adds the flags of the settings; only the flags with these names, if there are names.
func Bind(fs *pflag.FlagSet, settings []config.Setting, names ...string) {
	for _, s := range settings {
		if len(names) > 0 && !slices.Contains(names, s.Flag) {
			continue
		}
		f := fs.VarPF(s.Value, s.Flag, "", s.Help())
		if s.Value.Type() == "bool" {
			f.NoOptDefVal = "true" // --paused stands for --paused=true
		}
	}
}
