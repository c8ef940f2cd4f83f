package inspect

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// WouldEvict is the exit code with --exit-code when some pod is to go.
const WouldEvict = 2

// ErrWouldEvict is the answer with --exit-code, which has been printed.
var ErrWouldEvict = errors.New("some pod is to go")

// exitCode is the value of --exit-code: what the exit code is about.
type exitCode struct {
	about string // empty, change or any
	any   bool   // may be given
}

// flag adds --exit-code, which may be given without a value.
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

// of is the answer where so many pods go because of a change, and so many at all.
func (e *exitCode) of(change, all int) error {
	if e.about == "change" && change > 0 || e.about == "any" && all > 0 {
		return ErrWouldEvict
	}
	return nil
}
