// Package flags adds the flags of package config to commands, and reports usage errors with the next step.
package flags

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/internal/hint"
)

// Copy copies, from the second set to the first, the value of each flag that both sets have and the function selects.
func Copy(to, from *pflag.FlagSet, names func(flag *pflag.Flag) bool) error {
	var errs []error
	from.VisitAll(func(f *pflag.Flag) {
		target := to.Lookup(f.Name)
		if target == nil || !names(f) {
			return
		}
		err := error(nil)
		if list, ok := f.Value.(pflag.SliceValue); ok {
			err = target.Value.(pflag.SliceValue).Replace(list.GetSlice())
		} else {
			err = target.Value.Set(f.Value.String())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("copying the flag --%s: %w", f.Name, err))
		}
	})
	return errors.Join(errs...)
}

// FileVar adds a flag that takes the name of a file. It refuses the empty name, which an unset shell variable gives.
func FileVar(fs *pflag.FlagSet, to *string, name, usage string) {
	fs.Var(text{to, "file"}, name, usage)
}

// URLVar adds a flag that takes a manager's address. It refuses the empty address, as FileVar does.
func URLVar(fs *pflag.FlagSet, to *string, name, usage string) { fs.Var(text{to, "URL"}, name, usage) }

// text is the value of a flag that takes a text that must not be empty.
type text struct {
	to   *string
	kind string
}

func (t text) String() string { return *t.to }
func (t text) Type() string   { return t.kind }

func (t text) Set(value string) error {
	if value == "" {
		return errors.New("must not be empty")
	}
	*t.to = value
	return nil
}

// UsageError is an error of the command line itself.
type UsageError struct{ Err error }

// Error implements error.
func (u UsageError) Error() string { return u.Err.Error() }

// Unwrap returns the wrapped error.
func (u UsageError) Unwrap() error { return u.Err }

// usageError adds where the usage of the command is described.
func usageError(cmd *cobra.Command, err error) error {
	return UsageError{hint.Add(err, "See '%s --help' for usage.", cmd.CommandPath())}
}

// KnownCommand rejects unknown subcommands.
func KnownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, command := range cmd.Commands() {
		names = append(names, command.Name())
	}
	err := fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), Nearest(args[0], names))
	return usageError(cmd, err)
}

// NoArguments rejects arguments of a command that has only flags.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unexpected argument %q", args[0])
	if slices.Contains([]string{"true", "false", "any"}, args[0]) {
		return UsageError{hint.Add(err, "To set a flag to %s, use --FLAG=%s.", args[0], args[0])}
	}
	return usageError(cmd, err)
}

// Refuse returns the [UsageError] for an error of package pflag.
func Refuse(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, unknown)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		reason := "must be " + takes(invalid.GetFlag())
		if errors.Is(invalid, strconv.ErrRange) {
			reason = "out of range"
		}
		err = Invalid(invalid.GetFlag().Name, invalid.GetValue(), reason)
	}
	return usageError(cmd, err)
}

// unknownFlag names the flag as it was typed: pflag itself parses -kubeconfig as the flag -k.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name, dashes := unknown.GetSpecifiedName(), "--"
	if letters, _, _ := strings.Cut(unknown.GetSpecifiedShortnames(), "="); letters != "" {
		name, dashes = letters, "-"
	}
	err := fmt.Errorf("unknown flag: %s%s%s", dashes, name, didYouMean(cmd, name))
	if name == "pod-eviction-timeout" {
		return UsageError{hint.Add(err, "To set one timeout for the whole cluster, use a policy: see "+
			"docs/policies.md#one-eviction-timeout-for-the-whole-cluster.")}
	}
	return usageError(cmd, err)
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
	if similar := similarTo(name, names); len(similar) > 0 {
		return fmt.Sprintf(" (did you mean --%s?)", similar[0])
	}
	return ""
}

// takes describes the allowed values of a flag, by its name if that is more specific than its type.
func takes(flag *pflag.Flag) string {
	switch flag.Name {
	case "secure-port":
		return "a port number, 1 to 65535, or 0 to disable HTTPS"
	case "exit-code":
		return "true or false, or any with plan"
	}
	byType := map[string]string{
		"bool":          "true or false",
		"int":           "a whole number",
		"float32":       "a number, such as 20 or 0.5",
		"float64":       "a number, such as 20 or 0.5",
		"duration":      "a duration, such as 500ms, 10s or 1h30m",
		"file":          "a file name, or - for standard input",
		"URL":           "the URL of a manager's --status-address, such as http://127.0.0.1:8080",
		"ip":            "an IP address, such as 127.0.0.1 or ::1",
		"stringSlice":   "a comma-separated list",
		"int32Slice":    "a comma-separated list of numeric curve IDs",
		"namedCertKey":  "CERTFILE,KEYFILE or CERTFILE,KEYFILE:DOMAIN,...",
		"Level":         "a number from 0 to 2147483647",
		"pattern=N,...": "a list of pattern=N settings, such as pool=4,api=2",
	}
	return cmp.Or(byType[flag.Value.Type()], "of type "+flag.Value.Type())
}
