package cli

import (
	"errors"
	"io"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestNoRefusalShowsTheInsideOfTheProgram gives every flag of every command values that it can't read.
func TestNoRefusalShowsTheInsideOfTheProgram(t *testing.T) {
	sentence := regexp.MustCompile(`^--[a-z0-9-]+=.+ is refused: it takes .+; .+$`)
	inside := regexp.MustCompile(`strconv|pars|syntax|invalid|failed|expected|of the type|%!`)
	refused := 0
	for _, cmd := range commands(t) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			for _, value := range []string{"x", "", "1e999", "99999999999999999999", `"a`, "=", "-", "a\nb"} {
				err := parse(t, cmd.Name(), "--"+f.Name+"="+value)
				if err == nil {
					continue
				}
				refused++
				if !sentence.MatchString(err.Error()) || inside.MatchString(err.Error()) || !errors.As(err, new(usageError)) {
					t.Errorf("%s --%s=%q: got %q", cmd.Name(), f.Name, value, err)
				}
			}
		})
	}
	if refused < 100 {
		t.Errorf("only %d refusals were looked at", refused)
	}
}

func commands(t *testing.T) []*cobra.Command {
	root := NewCommand(t.Context())
	root.InitDefaultHelpFlag()
	return append(root.Commands(), root)
}

// parse is what the flags of a command say to the arguments.
func parse(t *testing.T, name string, args ...string) error {
	for _, cmd := range commands(t) {
		if cmd.Name() == name {
			cmd.SetOut(io.Discard)
			if err := cmd.ParseFlags(args); err != nil {
				return cmd.FlagErrorFunc()(cmd, err)
			}
		}
	}
	return nil
}
