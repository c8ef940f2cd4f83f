package terminal

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
)

// pageWidth is the width of help text that is not printed on a terminal.
const pageWidth = 100

// AddFlags adds flags to a command, and a help function that prints this text and the flags by section, in the width of
// the terminal.
func AddFlags(cmd *cobra.Command, text string, sections cliflag.NamedFlagSets) {
	sections.FlagSet("other").BoolP("help", "h", false, "print this help")
	for _, section := range sections.FlagSets {
		cmd.Flags().AddFlagSet(section)
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		columns, _, err := Size(w)
		if err != nil { // not a terminal
			columns = pageWidth
		}
		var flags strings.Builder
		cliflag.PrintSections(&flags, sections, columns)
		_, _ = fmt.Fprint(w, text)
		for line := range strings.Lines(flags.String()) {
			_, _ = fmt.Fprintln(w, strings.TrimRight(line, " \n")) // wrapping pads the lines of names
		}
	})
}
