// Package flags adds the flags of package config to commands, and reports usage errors in one sentence with a hint.
package flags

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Copy sets the flags of to to the values of the flags of from, for the flags that names selects.
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

// FileVar adds a flag that takes the name of a file. It refuses the empty name, as of a variable that is not set.
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
		return errors.New("it is empty")
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
		Nearest(args[0], names), cmd.CommandPath())
}

// NoArguments rejects arguments of a command that has only flags.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if slices.Contains([]string{"true", "false", "any"}, args[0]) {
		hint = " write a switch as --NAME=" + args[0] + ";"
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
	if name == "pod-eviction-timeout" {
		return usageErrorf("there is no flag --pod-eviction-timeout: a policy sets one timeout for the whole cluster; see " +
			"docs/policies.md#one-eviction-timeout-for-the-whole-cluster")
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
	if similar := similarTo(name, names); len(similar) > 0 {
		return fmt.Sprintf(" (did you mean --%s?)", similar[0])
	}
	return ""
}

// refuseValue refuses a text that is not a value of the flag's type.
func refuseValue(cmd *cobra.Command, err *pflag.InvalidValueError) error {
	flag := err.GetFlag()
	next := "leave it out for " + flag.DefValue
	switch {
	case flag.NoOptDefVal == "true":
		next = "write --" + flag.Name + " for true"
	case flag.Value.Type() == "int32Slice":
		next = "leave it out for those of Go"
	case flag.DefValue == "" || strings.HasPrefix(flag.DefValue, "["):
		next = "'" + cmd.CommandPath() + " --help' says more"
	}
	return Refusal{Flag: flag.Name, Value: err.GetValue(), Allowed: "it takes " + takes(flag), Next: next}
}

// takes describes the allowed values of a flag, by its name if that is more specific than its type.
func takes(flag *pflag.Flag) string {
	switch flag.Name {
	case "secure-port":
		return "1 to 65535, or 0 for not serving"
	case "exit-code":
		return "true or false, and with plan any"
	}
	byType := map[string]string{
		"bool":          "true or false",
		"int":           "whole numbers",
		"float32":       "numbers such as 20 or 0.5",
		"float64":       "numbers such as 20 or 0.5",
		"duration":      "times such as 500ms, 10s or 1h30m",
		"file":          "the name of a file, or - for the standard input",
		"URL":           "the URL of a manager's --status-address, such as http://127.0.0.1:8080",
		"ip":            "IP addresses such as 127.0.0.1 or ::1",
		"stringSlice":   "texts with commas between them",
		"int32Slice":    "the numbers of curves that this version of Go has",
		"namedCertKey":  "CERTFILE,KEYFILE or CERTFILE,KEYFILE:DOMAIN,...",
		"Level":         "0 to 2147483647",
		"pattern=N,...": "files and levels such as pool=4,api=2",
	}
	return cmp.Or(byType[flag.Value.Type()], "values of the type "+flag.Value.Type())
}
