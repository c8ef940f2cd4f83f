package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli"
)

// TestHelpIsShort limits the text before the usage of each command: exit codes excepted, it has at most six sentences.
func TestHelpIsShort(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		text, _, _ := strings.Cut(cmd.Long, "Exit codes:")
		if n := sentences(text); n > 6 {
			t.Errorf("the help of %q has %d sentences, want at most 6", cmd.CommandPath(), n)
		}
		for _, child := range cmd.Commands() {
			if child.Name() != "completion" { // its text is cobra's
				check(child)
			}
		}
	}
	check(cli.NewCommand())
}

// sentences counts the words that end a sentence.
func sentences(text string) (n int) {
	for word := range strings.FieldsSeq(text) {
		if strings.HasSuffix(word, ".") {
			n++
		}
	}
	return n
}

func TestTheREADMEHasAtMost900Words(t *testing.T) {
	text := must(os.ReadFile("../README.md"))
	if n := len(strings.Fields(string(text))); n > 900 {
		t.Errorf("README.md has %d words, want at most 900", n)
	}
}
