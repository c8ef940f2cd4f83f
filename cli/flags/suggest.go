package flags

import (
	"slices"

	"github.com/spf13/cobra"
)

// Nearest returns up to three names that are similar to the typed one: " (did you mean a or b?)"; "" if none is.
func Nearest(typed string, names []string) string {
	similar := similarTo(typed, names)
	if len(similar) == 0 {
		return ""
	}
	return " (did you mean " + JoinWords(similar, "or") + "?)"
}

// most is how many names are suggested.
const most = 3

// similarTo returns the names that cobra would suggest if they were commands, the nearest first. They begin with the
// typed name, or differ from it in fewer letters than it has.
func similarTo(typed string, names []string) (similar []string) {
	var parent cobra.Command
	for _, name := range slices.Sorted(slices.Values(names)) {
		parent.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for nearest := range min(len(typed)/3+1, len(typed)-1) {
		parent.SuggestionsMinimumDistance = nearest + 1
		for _, name := range parent.SuggestionsFor(typed) {
			if !slices.Contains(similar, name) && len(similar) < most {
				similar = append(similar, name)
			}
		}
	}
	return similar
}
