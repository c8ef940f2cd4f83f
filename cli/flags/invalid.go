package flags

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taint-manager/taint-manager/internal/config"
)

// Invalid returns an error like pflag's: the flag, whose name is given without dashes, does not allow this value.
func Invalid(flag, value, reason string) error {
	return fmt.Errorf("invalid argument %q for %q flag: %s", value, "--"+flag, reason)
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
