// Package spelling finds misspelt names: [Edits] computes the edit distance between names, and [Near] compares it with
// their length. It is pure.
package spelling

import "strings"

// Near reports whether a name may be the right one, misspelt: their edit distance, whatever the case of letters, is
// at most 1, plus 1 for each eight letters of the right name.
func Near(name, right string) bool {
	most := 1 + len(right)/8
	return max(len(name)-len(right), len(right)-len(name)) <= most &&
		Edits(strings.ToLower(name), strings.ToLower(right)) <= most
}

// Edits returns how many letters have to be added, removed, replaced or swapped with the next one to make b of a.
func Edits(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := []int{i + 1}
		for j := range len(b) {
			n := min(last[j+1], row[j]) + 1
			switch {
			case a[i] == b[j]:
				n = min(n, last[j])
			case i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j]:
				n = min(n, last[j]+1, before[j-1]+1)
			default:
				n = min(n, last[j]+1)
			}
			row = append(row, n)
		}
		before, last = last, row
	}
	return last[len(b)]
}
