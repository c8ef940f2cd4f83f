// Package suggest suggests names that are similar to a mistyped name.
package suggest

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Nearest returns up to three names that are similar to the typed one: " (did you mean a or b?)"; "" if none is.
func Nearest(typed string, names []string) string {
	similar := Similar(typed, names)
	if len(similar) == 0 {
		return ""
	}
	return " (did you mean " + JoinWords(similar, "or") + "?)"
}

// most is how many names are suggested.
const most = 3

// Similar returns the names that cobra would suggest if they were commands, the nearest first. They have something in
// common with the typed name.
func Similar(typed string, names []string) (similar []string) {
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

// JoinWords joins words: "a", "a or b", "a, b or c".
func JoinWords(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
