package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Refusal says why the value of a flag, or of a field of a configuration file, is refused.
type Refusal struct {
	Flag    string // without the dashes; empty for a file
	File    string // empty for a flag
	Line    int    // 0 and an empty Field: the whole file
	Field   string
	Value   string // as given, and shortened if it is that of a field; it may be empty
	Allowed string // describes the allowed values; not empty
	Next    string // the next step; not empty
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
