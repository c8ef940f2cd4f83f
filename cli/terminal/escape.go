package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns a text as one line without characters that a terminal interprets or that change how the surrounding
// text is displayed: control characters (including line breaks), Unicode's characters for the direction of text, line
// separators, and bytes that are not UTF-8. It writes such characters as Go escapes.
func Escape(s string) string {
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var safe strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		next := s[:size]
		if unsafe(r) {
			next = strings.Trim(strconv.QuoteToASCII(next), `"`)
		}
		safe.WriteString(next)
		s = s[size:]
	}
	return safe.String()
}

// unsafe reports whether a terminal may interpret the character. A byte that is not UTF-8 comes as the error character.
func unsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' ||
		r == '\ufeff' || r == utf8.RuneError
}

// EscapeJSON returns a JSON text with all such characters in its strings escaped. JSON itself escapes only some.
func EscapeJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, unsafeInJSON) {
		return text
	}
	var safe bytes.Buffer
	for _, r := range string(text) {
		if unsafeInJSON(r) {
			fmt.Fprintf(&safe, `\u%04x`, r)
		} else {
			safe.WriteRune(r)
		}
	}
	return safe.Bytes()
}

// unsafeInJSON excludes the line breaks between the fields: line breaks in strings are already escaped.
func unsafeInJSON(r rune) bool { return unsafe(r) && r != '\n' && r != utf8.RuneError }

// Safe is a text that may be written unchanged.
type Safe string

// Builder builds a text piece by piece. The arguments of [Builder.Printf] are escaped.
type Builder struct{ strings.Builder }

// Printf writes like fmt.Printf. It escapes the arguments, except those of type [Safe]; it does not escape the format.
func (b *Builder) Printf(format string, args ...any) {
	safe := slices.Clone(args)
	for i, arg := range args {
		switch arg.(type) {
		case Safe, int, int64:
		default:
			safe[i] = Escape(fmt.Sprint(arg))
		}
	}
	fmt.Fprintf(b, format, safe...)
}

// SafeError is an error whose message is escaped.
type SafeError struct{ Err error }

func (s SafeError) Error() string { return Escape(s.Err.Error()) }

// Unwrap returns the original error.
func (s SafeError) Unwrap() error { return s.Err }

// Problems returns the errors that errors.Join has joined into err, or err itself; nil for nil.
func Problems(err error) (list []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	var texts []string
	for _, one := range joined.Unwrap() {
		texts, list = append(texts, one.Error()), append(list, Problems(one)...)
	}
	if strings.Join(texts, "\n") != err.Error() { // fmt.Errorf has wrapped several
		return []error{err}
	}
	return list
}
