package answer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// WouldEvict is the exit code with --exit-code if a pod is to be evicted.
const WouldEvict = 2

// ErrWouldEvict is returned with --exit-code after the answer was printed.
var ErrWouldEvict = errors.New("some pod is to go")

// ExitCode is the value of --exit-code: which evictions it reports, "true" or "any". The zero value reports none.
type ExitCode struct {
	about string
	words []string
}

// Bind adds --exit-code, which has an optional value: true, false or one of the words.
func (e *ExitCode) Bind(fs *pflag.FlagSet, usage string, words ...string) {
	e.words = slices.Concat(words, []string{"true", "false"})
	fs.Var(e, "exit-code", usage)
	fs.Lookup("exit-code").NoOptDefVal = "true"
}

// Set implements pflag.Value.
func (e *ExitCode) Set(s string) error {
	if !slices.Contains(e.words, s) {
		return fmt.Errorf("it can't be %q", s)
	}
	e.about = s
	return nil
}

// Given reports whether the exit code is to report evictions.
func (e *ExitCode) Given() bool { return e.about != "" && e.about != "false" }

// String implements pflag.Value.
func (e *ExitCode) String() string { return e.about }

// Type implements pflag.Value. As with a bool, the value can be left out, and follows = otherwise.
func (e *ExitCode) Type() string { return "bool" }

// check returns the error for these numbers of evictions: because of a change, and in total.
func (e *ExitCode) check(because, all int) error {
	if e.about == "true" && because > 0 || e.about == "any" && all > 0 {
		return ErrWouldEvict
	}
	return nil
}
