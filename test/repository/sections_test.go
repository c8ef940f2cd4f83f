package repository

import (
	"regexp"
	"strings"
	"testing"
)

// section matches a section that is cited by its number, with the words after it.
var section = regexp.MustCompile(`(?i)\bsections?\s+\d[\d.]*(\s+of\s+\S+(\s+\S+)?)?`)

// The repository has no numbered sections, so such a citation names a text that a reader does not have. The sections of
// an RFC are numbered, and everybody has them.
func TestNothingCitesASectionByItsNumber(t *testing.T) {
	atRoot(t)
	for name, text := range prose(t) {
		for _, found := range section.FindAllString(text, -1) {
			if !strings.Contains(found, "RFC") {
				t.Errorf("%s cites %q; name a file and its heading, as in: docs/semantics.md, \"Clocks\"", name, strings.Join(strings.Fields(found), " "))
			}
		}
	}
}
