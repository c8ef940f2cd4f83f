package terminal

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns a text as one line without characters that a terminal would obey or that change how the text
// around them is shown: control characters (line breaks among them), those of Unicode for the direction of
// text, separators of lines, and bytes that are no UTF-8. They are written as in Go.
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

// unsafe reports whether a terminal may obey the character. A byte that is no UTF-8 is the error character.
func unsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == utf8.RuneError
}

// EscapeJSON returns a text in JSON in which strings have all such characters escaped. JSON itself escapes
// only some.
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

// unsafeInJSON leaves out the line breaks between the fields: those in strings are escaped already.
func unsafeInJSON(r rune) bool { return unsafe(r) && r != '\n' && r != utf8.RuneError }

// Safe is a text that may be written as it is.
type Safe string

// Builder is text that is written piece by piece. What [Builder.Printf] is given is escaped.
type Builder struct{ strings.Builder }

// Printf writes as fmt.Printf does. Arguments are escaped, unless they are [Safe]; the format is written as it
// is.
func (b *Builder) Printf(format string, args ...any) {
	fmt.Fprintf(b, format, escaped(args)...)
}

// escaped are the arguments of a format, with texts escaped.
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

func (e SafeError) Error() string { return Escape(e.Err.Error()) }

// Unwrap returns the error as it was.
func (e SafeError) Unwrap() error { return e.Err }
