// Package usage describes in one sentence what is wrong with a command line, and what to write instead: an unknown
// command or flag, or a value that a flag does not accept. Its errors are of the type [Error].
package usage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/cli/suggest"
)

// Error is an error of the command line itself.
type Error struct{ error }

// Unwrap returns the wrapped error.
func (e Error) Unwrap() error { return e.error }

// Wrap marks an error as an error of the command line itself.
func Wrap(err error) error { return Error{err} }

// Errorf returns an [Error] with this text.
func Errorf(format string, args ...any) error { return Wrap(fmt.Errorf(format, args...)) }

// KnownCommand rejects unknown subcommands.
func KnownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, command := range cmd.Commands() {
		names = append(names, command.Name())
	}
	return Errorf("there is no command %q%s: '%s --help' lists the commands", args[0], suggest.DidYouMean(args[0], "",
		names), cmd.CommandPath())
}

// NoArguments rejects arguments of a command that has only flags.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	switch args[0] {
	case "true", "yes", "on":
		hint = " write a switch as --NAME=true;"
	case "false", "no", "off":
		hint = " write a switch as --NAME=false;"
	}
	return Errorf("%s takes flags only, got %q:%s '%s --help' lists the flags", cmd.Name(), args[0], hint,
		cmd.CommandPath())
}

// FlagError describes in one sentence what is wrong with a flag.
func FlagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, unknown)
	}
	if unreadable, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return unreadableValue(cmd, unreadable)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		name := missing.GetFlag().Name
		return Errorf("--%s has no value: write --%[1]s=VALUE; '%s --help' says what it takes", name, cmd.CommandPath())
	}
	if nameless, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return Errorf("%q names no flag: write --NAME=VALUE; '%s --help' lists the flags", nameless.GetSpecifiedFlag(),
			cmd.CommandPath())
	}
	return Errorf("%w; '%s --help' says what the flag takes", err, cmd.CommandPath())
}

func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name, dashes := typedFlag(unknown)
	hint := otherCommand(cmd, name)
	if hint == "" {
		hint = suggest.DidYouMean(name, "--", flagNames(cmd))
	}
	return Errorf("there is no flag %s%s%s: '%s --help' lists the flags", dashes, name, hint, cmd.CommandPath())
}

// otherCommand returns another command that has the flag; "" if there is none, or if this command also has it.
func otherCommand(cmd *cobra.Command, name string) string {
	if cmd.Flags().Lookup(name) != nil {
		return ""
	}
	for _, other := range append(cmd.Root().Commands(), cmd.Root()) {
		if other != cmd && other.Flags().Lookup(name) != nil {
			return fmt.Sprintf(" (did you mean %s --%s?)", other.CommandPath(), name)
		}
	}
	return ""
}

// typedFlag returns the flag as it was typed: pflag itself parses -kubeconfig as the flag -k.
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
