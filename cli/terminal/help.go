package terminal

import (
	"fmt"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/term"
)

// PlainHelp returns a help function that prints the text.
func PlainHelp(text string) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, _ []string) { _, _ = fmt.Fprint(cmd.OutOrStdout(), text) }
}

// SectionedHelp returns a help function that prints the text, and the flags in their sections, in the width of the
// terminal.
func SectionedHelp(text string, sections cliflag.NamedFlagSets) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		columns, _, _ := term.TerminalSize(w) // 0 if w is not a terminal: nothing is wrapped
		_, _ = fmt.Fprint(w, text)
		cliflag.PrintSections(w, sections, columns)
	}
}
