package suggest

import (
	"fmt"
	"strings"
)

// DidYouMean suggests the name that is most similar to the typed one; it returns "" if none is similar.
func DidYouMean(typed, prefix string, names []string) string {
	best, least := "", min(len(typed)/3+2, len(typed)) // the name has something in common with the typed one
	for _, name := range names {
		if d := unlikeness(typed, name); d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s%s?)", prefix, best)
}

// unlikeness returns the distance of a name from the typed one. A name whose beginning was typed is near, however long
// it is.
func unlikeness(typed, name string) int {
	if len(typed) > 1 && strings.HasPrefix(name, typed) {
		return 1
	}
	return distance(typed, name)
}

// distance returns the number of bytes to insert, delete or replace to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
