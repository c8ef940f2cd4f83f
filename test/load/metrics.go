package load

import (
	"slices"
	"strconv"
	"strings"
)

// Sum adds up the samples of a metric in the text format, or those of its series that contain all these words.
func Sum(metrics, name string, words ...string) (total float64) {
	for line := range strings.Lines(metrics) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			continue
		}
		fields := strings.Fields(line)
		value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err == nil {
			total += value
		}
	}
	return total
}
