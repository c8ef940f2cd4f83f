package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Refusal is why a setting is not taken. None of its fields is empty, but that the value may be.
type Refusal struct {
	// Flag that sets it, without the dashes.
	Flag string

	// Value as given.
	Value string

	// Allowed says which values are taken.
	Allowed string

	// Next says what to do now.
	Next string
}

// Error is the refusal in one sentence. A value that would be hard to see is in quotes.
func (r Refusal) Error() string {
	return fmt.Sprintf("--%s=%s is refused: %s; %s", r.Flag, visible(r.Value), r.Allowed, r.Next)
}

// visible keeps a refusal in one line, whatever the value holds.
func visible(value string) string {
	quoted := strconv.Quote(value)
	if value == "" || strings.Contains(value, " ") || quoted != `"`+value+`"` {
		return quoted
	}
	return value
}
