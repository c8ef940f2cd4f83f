package terminal

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns a text as one line without characters that a terminal interprets or that change how the surrounding
// text is displayed: control characters (including line breaks), Unicode's characters for the direction of text, line
// separators, and bytes that are not UTF-8. They are written as Go escapes.
func Escape(s string) string {
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var safe strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&safe, `\x%02x`, s[i])
		case unsafe(r):
			safe.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			safe.WriteRune(r)
		}
	}
	return safe.String()
}

// unsafe reports whether a terminal may interpret the character. A byte that is not UTF-8 is the error character.
func unsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' ||
		r == '\ufeff' || r == utf8.RuneError
}

// EscapeJSON returns a JSON text in which strings have all such characters escaped. JSON itself escapes only some.
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
	fmt.Fprintf(b, format, escaped(args)...)
}

// escaped returns the arguments of a format, with texts escaped.
func escaped(args []any) []any {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			safe[i] = Escape(arg)
		case error:
			safe[i] = Escape(arg.Error())
		case Safe, int, int64:
			safe[i] = arg
		default:
			safe[i] = Escape(fmt.Sprint(arg))
		}
	}
	return safe
}

// SafeError is an error whose message is escaped.
type SafeError struct{ Err error }

func (s SafeError) Error() string { return Escape(s.Err.Error()) }

// Unwrap returns the original error.
func (s SafeError) Unwrap() error { return s.Err }
