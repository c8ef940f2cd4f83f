package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatATerminalWouldObeyIsEscaped(t *testing.T) {
	for given, want := range map[string]string{
		"größer - 日本": "größer - 日本", "a\nb\tc": `a\nb\tc`, "\x1b[2J": `\x1b[2J`, "\u009b2J": `\u009b2J`, "\x7f": `\x7f`,
		"a\u202eb\u2066c\u200f": `a\u202eb\u2066c\u200f`, "\u2028": `\u2028`, "\xff\xfe": `\xff\xfe`, "\x85": `\x85`, "\ufffd": `\ufffd`, `\n`: `\n`,
	} {
		if got := Escape(given); got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
}

func TestNothingUnsafeIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		for _, r := range Escape(given) {
			if unsafe(r) {
				t.Fatalf("%q has %q", Escape(given), r)
			}
		}
		text, err := json.MarshalIndent(map[string]string{"a": given}, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		var before, after map[string]string
		if json.Unmarshal(text, &before) != nil || json.Unmarshal(EscapeJSON(text), &after) != nil || before["a"] != after["a"] {
			t.Fatalf("JSON: %q is not %q", after["a"], before["a"])
		}
	})
}

func TestTheArgumentsOfAFormatAreEscaped(t *testing.T) {
	var b Builder
	b.Printf("%s %d %s\n", "\x1b", 7, Safe("\x1b[1m"))
	if want := "\\x1b 7 \x1b[1m\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestJoinedErrorsAreProblemsOfTheirOwn(t *testing.T) {
	a, b, c := errors.New("a\x1b"), errors.New("b\nb"), errors.New("c")
	for want, err := range map[string]error{
		`a\x1b`:                  a,
		"a\\x1b\nb\\nb":          errors.Join(a, b),
		"a\\x1b\nb\\nb\nc":       errors.Join(errors.Join(a, b), nil, c),
		`reading a\x1b: b\nb; c`: fmt.Errorf("reading %w: %w; c", a, b),
	} {
		var lines []string
		for _, problem := range Problems(err) {
			lines = append(lines, SafeError{problem}.Error())
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
