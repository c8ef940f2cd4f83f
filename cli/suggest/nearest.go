package suggest

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest returns up to three names that are similar to the typed one: " (did you mean a or b?)"; "" if none is.
func Nearest(typed string, names []string) string {
	type candidate struct {
		name     string
		distance int
	}
	var like []candidate
	for _, name := range names {
		if d := unlikeness(typed, name); d < len(typed)/3+2 {
			like = append(like, candidate{name, d})
		}
	}
	if len(like) == 0 {
		return ""
	}
	slices.SortFunc(like, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	var best []string
	for _, c := range like[:min(3, len(like))] {
		best = append(best, c.name)
	}
	return " (did you mean " + Listed(best, "or") + "?)"
}

// Listed joins words: "a", "a or b", "a, b or c".
func Listed(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
