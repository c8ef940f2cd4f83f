package flags

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/cli/suggest"
)

// UsageError is an error of the command line itself.
type UsageError struct{ Err error }

// Error implements error.
func (u UsageError) Error() string { return u.Err.Error() }

// Unwrap returns the wrapped error.
func (u UsageError) Unwrap() error { return u.Err }

func usageErrorf(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// KnownCommand rejects unknown subcommands.
func KnownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, command := range cmd.Commands() {
		names = append(names, command.Name())
	}
	return usageErrorf("there is no command %q%s: '%s --help' lists the commands", args[0],
		suggest.Nearest(args[0], names), cmd.CommandPath())
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
	return usageErrorf("%s takes flags only, got %q:%s '%s --help' lists the flags", cmd.Name(), args[0], hint,
		cmd.CommandPath())
}

// Refuse returns the refusal of a flag in one sentence, for an error of package pflag.
func Refuse(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return refuseUnknown(cmd, unknown)
	}
	if unreadable, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return UsageError{refuseValue(cmd, unreadable)}
	}
	return usageErrorf("%w; '%s --help' says what the flag takes", err, cmd.CommandPath())
}

// refuseUnknown names the flag as it was typed: pflag itself parses -kubeconfig as the flag -k.
func refuseUnknown(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name, dashes := unknown.GetSpecifiedName(), "--"
	if letters, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "="); letters != "" {
		name, dashes = letters, "-"
	}
	return usageErrorf("there is no flag %s%s%s: '%s --help' lists the flags", dashes, name, didYouMean(cmd, name),
		cmd.CommandPath())
}

// didYouMean suggests another command that has the flag, or the flag of this command with the most similar name.
func didYouMean(cmd *cobra.Command, name string) string {
	for _, other := range append(cmd.Root().Commands(), cmd.Root()) {
		if cmd.Flags().Lookup(name) == nil && other.Flags().Lookup(name) != nil {
			return fmt.Sprintf(" (did you mean %s --%s?)", other.CommandPath(), name)
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if similar := suggest.Similar(name, names); len(similar) > 0 {
		return fmt.Sprintf(" (did you mean --%s?)", similar[0])
	}
	return ""
}
