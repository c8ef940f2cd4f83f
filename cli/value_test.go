package cli

import (
	"cmp"
	"regexp"
	"testing"

	"github.com/spf13/pflag"
)

// TestNoRefusalShowsTheInsideOfTheProgram sets every flag of every command to values that it cannot parse.
func TestNoRefusalShowsTheInsideOfTheProgram(t *testing.T) {
	sentence := regexp.MustCompile(`^invalid argument ".*" for "--[a-z0-9-]+" flag: (must be .+|out of range)$`)
	inside := regexp.MustCompile(`strconv|pars|syntax|failed|expected|of type|%!`)
	refused := 0
	code := map[string]int{"plan": CannotRun, "explain": CannotRun, "pending": CannotRun} // the others exit with 2
	root := newCommand()
	for _, cmd := range append(root.Commands(), root) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			for _, value := range []string{"x", "", "1e999", "99999999999999999999", `"a`, "=", "-", "a\nb"} {
				err := cmd.ParseFlags([]string{"--" + f.Name + "=" + value})
				if err == nil {
					continue
				}
				refused++
				err = cmd.FlagErrorFunc()(cmd, err)
				if !sentence.MatchString(err.Error()) || inside.MatchString(err.Error()) || exitCode(cmd, err) != cmp.Or(code[cmd.Name()], Usage) {
					t.Errorf("%s --%s=%q: got %q", cmd.Name(), f.Name, value, err)
				}
			}
		})
	}
	if refused < 100 {
		t.Errorf("only %d refusals were looked at", refused)
	}
}
