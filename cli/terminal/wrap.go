package terminal

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text that is wider than that many columns into lines, between words; 0 columns means no limit.
func Wrap(text string, columns int) []string {
	if columns == 0 || utf8.RuneCountInString(text) <= columns {
		return []string{text}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
