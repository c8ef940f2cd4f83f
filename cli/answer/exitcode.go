package answer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// WouldEvict is the exit code with --exit-code if a pod is to be evicted.
const WouldEvict = 2

// ErrWouldEvict is returned after the answer was printed, with --exit-code, or when a wait has reached its --timeout.
var ErrWouldEvict = errors.New("some pod is to go")

// ExitCode says which evictions --exit-code reports, "true" or "any". The zero value reports none.
type ExitCode struct{ about string }

// Bind adds --exit-code, which has an optional value: true, false or one of the words.
func (e *ExitCode) Bind(fs *pflag.FlagSet, usage string, words ...string) {
	words = append(words, "true", "false")
	fs.BoolFunc("exit-code", usage, func(s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("unknown value %q", s)
		}
		e.about = s
		return nil
	})
}

// Given reports whether the exit code is to report evictions.
func (e *ExitCode) Given() bool { return e.about != "" && e.about != "false" }

// check returns the error for these numbers of evictions: those because of a change, and all.
func (e *ExitCode) check(because, all int) error {
	if e.about == "true" && because > 0 || e.about == "any" && all > 0 {
		return ErrWouldEvict
	}
	return nil
}
