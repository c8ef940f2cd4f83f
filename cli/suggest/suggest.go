// Package suggest suggests the name that was probably meant by a mistyped one.
package suggest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// DidYouMean suggests the name that is most similar to the typed one; it returns "" if none is similar.
func DidYouMean(typed, prefix string, names []string) string {
	// the name has something in common with the typed one
	like := similar(typed, names, min(len(typed)/3+1, len(typed)-1))
	if len(like) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s%s?)", prefix, like[0])
}

// Nearest returns up to three names that are similar to the typed one: " (did you mean a or b?)"; "" if none is.
func Nearest(typed string, names []string) string {
	like := similar(typed, names, len(typed)/3+1)
	if len(like) == 0 {
		return ""
	}
	return " (did you mean " + JoinWords(like, "or") + "?)"
}

// most is how many names are suggested.
const most = 3

// similar returns the nearest names that cobra would suggest if they were commands, up to this distance, the nearest
// first.
func similar(typed string, names []string, distance int) (like []string) {
	var parent cobra.Command
	for _, name := range slices.Sorted(slices.Values(names)) {
		parent.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for nearest := range distance {
		parent.SuggestionsMinimumDistance = nearest + 1
		for _, name := range parent.SuggestionsFor(typed) {
			if !slices.Contains(like, name) {
				like = append(like, name)
			}
			if len(like) == most {
				return like
			}
		}
	}
	return like
}

// JoinWords joins words: "a", "a or b", "a, b or c".
func JoinWords(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
