package inspect

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// WouldEvict is the exit code with --exit-code if a pod is to be evicted.
const WouldEvict = 2

// ErrWouldEvict is returned with --exit-code after the answer was printed.
var ErrWouldEvict = errors.New("some pod is to go")

// exitCode is the value of --exit-code: which evictions it reports.
type exitCode struct {
	about string // empty, change or any
	any   bool   // "any" is allowed
}

// flag adds --exit-code, which has an optional value.
func (e *exitCode) flag(fs *pflag.FlagSet, any bool, usage string) {
	e.any = any
	fs.Var(e, "exit-code", usage)
	fs.Lookup("exit-code").NoOptDefVal = "true"
}

// Set implements pflag.Value.
func (e *exitCode) Set(s string) error {
	switch {
	case s == "true":
		e.about = "change"
	case s == "false":
		e.about = ""
	case s == "any" && e.any:
		e.about = s
	default:
		return fmt.Errorf("it can't be %q", s)
	}
	return nil
}

// String implements pflag.Value.
func (e *exitCode) String() string { return e.about }

// Type implements pflag.Value.
func (e *exitCode) Type() string { return "any" }

// of returns the error for these numbers of evictions: because of a change, and in total.
func (e *exitCode) of(change, all int) error {
	if e.about == "change" && change > 0 || e.about == "any" && all > 0 {
		return ErrWouldEvict
	}
	return nil
}
