package flags

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taint-manager/taint-manager/internal/config"
)

// Refusal says why the value of a flag is refused.
type Refusal struct {
	Flag    string // without the dashes
	Value   string // may be empty
	Allowed string // describes the allowed values; not empty
	Next    string // the next step; not empty
}

// Error returns the refusal as one sentence. A value that is empty, or has spaces or control characters, is quoted.
func (r Refusal) Error() string {
	return fmt.Sprintf("--%s=%s is refused: %s; %s", r.Flag, visible(r.Value), r.Allowed, r.Next)
}

// visible keeps a refusal on one line, whatever the value contains.
func visible(value string) string {
	quoted := strconv.Quote(value)
	if value == "" || strings.Contains(value, " ") || quoted != `"`+value+`"` {
		return quoted
	}
	return value
}

// JoinWords joins words: "a", "a or b", "a, b or c".
func JoinWords(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// FieldErrors returns errors of a configuration as one, a line for each. A field that a flag has set is named by the
// flag.
func FieldErrors[E error](errs []E, given func(flag string) bool) error {
	lines := make([]error, len(errs))
	for i, err := range errs {
		lines[i] = err
		if e, ok := errors.AsType[*field.Error](err); ok {
			if flag := config.FlagOf(e.Field); flag != "" && given(flag) {
				e.Field = "--" + flag
			}
		}
	}
	return errors.Join(lines...)
}
