package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Refusal says why the value of a flag, or of a field of a configuration file, is refused.
type Refusal struct {
	// Flag without the dashes. Empty for a file.
	Flag string

	// File, Line and Field are the position in a file. Line and Field are empty if the refusal concerns the whole file.
	File  string
	Line  int
	Field string

	// Value as given; it may be empty. The value of a field is shortened.
	Value string

	// Allowed describes the allowed values. It is not empty.
	Allowed string

	// Next is the next step. It is not empty.
	Next string
}

// Error returns the refusal as one sentence. A value that is empty, or has spaces or control characters, is quoted.
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

// visible keeps a refusal on one line, whatever the value contains.
func visible(value string) string {
	quoted := strconv.Quote(value)
	if value == "" || strings.Contains(value, " ") || quoted != `"`+value+`"` {
		return quoted
	}
	return value
}
