package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Refusal is why a setting is not taken: that of a flag, or that of a field of a configuration file.
type Refusal struct {
	// Flag that sets it, without the dashes. Empty for a file.
	Flag string

	// File, Line and Field say where it stands in a file. Line and Field are empty for what concerns the
	// whole file.
	File  string
	Line  int
	Field string

	// Value as given, which may be empty; for a file as it is shown.
	Value string

	// Allowed says which values are taken. It is not empty.
	Allowed string

	// Next says what to do now. It is not empty.
	Next string
}

// Error is the refusal in one sentence. A value that would be hard to see is in quotes.
func (r Refusal) Error() string {
	return fmt.Sprintf("%s is refused: %s; %s", r.subject(), r.Allowed, r.Next)
}

func (r Refusal) subject() string {
	if r.File == "" {
		return fmt.Sprintf("--%s=%s", r.Flag, visible(r.Value))
	}
	where := r.File
	if r.Line > 0 {
		where += ":" + strconv.Itoa(r.Line)
	}
	switch {
	case r.Field == "":
		return where
	case r.Value == "":
		return where + ": " + visible(r.Field)
	}
	return where + ": " + visible(r.Field) + "=" + r.Value
}

// visible keeps a refusal in one line, whatever the value holds.
func visible(value string) string {
	quoted := strconv.Quote(value)
	if value == "" || strings.Contains(value, " ") || quoted != `"`+value+`"` {
		return quoted
	}
	return value
}
