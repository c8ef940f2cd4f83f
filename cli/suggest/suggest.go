package suggest

import (
	"fmt"
	"strings"
)

// DidYouMean names the one of the names that is most like what was typed; it is empty when none is
// like it.
func DidYouMean(typed, prefix string, names []string) string {
	best, least := "", min(len(typed)/3+2, len(typed)) // it has something in common with what was typed
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

// unlikeness is how far a name is from what was typed. A name that was begun and not finished is
// near, however long it is.
func unlikeness(typed, name string) int {
	if len(typed) > 1 && strings.HasPrefix(name, typed) {
		return 1
	}
	return distance(typed, name)
}

// distance is the number of bytes to insert, delete or replace to make b of a.
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
