package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageError is an error of the command line itself.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// knownCommand refuses the arguments of the root, which are commands that there are not.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, command := range cmd.Commands() {
		names = append(names, command.Name())
	}
	return usagef("there is no command %q%s: 'taint-manager --help' lists the commands", args[0], didYouMean(args[0], "", names))
}

// noArguments refuses arguments of a command that takes only flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("%s takes flags only, got %q: '%s --help' lists the flags", cmd.CommandPath(), args[0], cmd.CommandPath())
}

// flagError says in one sentence what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usagef("%w; '%s --help' says what the flag takes", err, cmd.CommandPath())
	}
	name, dashes := typedFlag(unknown)
	return usagef("there is no flag %s%s%s: '%s --help' lists the flags",
		dashes, name, didYouMean(name, "--", flagNames(cmd)), cmd.CommandPath())
}

// typedFlag is the flag as it was typed: pflag itself takes -kubeconfig for the flag -k.
func typedFlag(unknown *pflag.NotExistError) (name, dashes string) {
	shorthands, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "=")
	if shorthands != "" {
		return shorthands, "-"
	}
	return unknown.GetSpecifiedName(), "--"
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}
