package dump

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// values generates texts that are JSON, nearly JSON, or truncated.
func values() *rapid.Generator[string] {
	token := rapid.SampledFrom([]string{
		`{`, `}`, `[`, `]`, `,`, `:`, ` `, "\n", `"a"`, `"a":`, `"`, `\`, `"\u00e9"`, `"\u00zz"`, `"\n"`, `"\x"`, "\"\t\"", "\x00", "ü", "\xff", `true`, `false`,
		`null`, `nul`, `0`, `00`, `-1`, `-`, `1.5e+3`, `1.`, `1e`, `.5`, `{}`, `[]`, `[1, 2]`, `{"metadata": {"name": "b", "x": 7}}`, `"items": [1]`,
	})
	return rapid.Map(rapid.SliceOfN(token, 1, 12), func(tokens []string) string {
		text := ""
		for _, t := range tokens {
			text += t
		}
		return text
	})
}

func TestTheScannerTakesWhatEncodingJSONTakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := values().Draw(t, "text")
		end, err := skip([]byte(text+" "), 0, 0) // a number ends before the space
		got := err == nil && space([]byte(text+" "), end) == len(text)+1
		if want := json.Valid([]byte(text)); got != want {
			t.Fatalf("%q: valid %t (%v), encoding/json says %t", text, got, err, want)
		}
	})
}

func TestATextThatIsCutOffIsShortAndNotInvalid(t *testing.T) {
	const text = `{"a": [1.5e+3, -0, "x\u00e9\n", {"b": null}, true, false], "c": {}}`
	for end := range len(text) {
		if _, err := skip([]byte(text[:end]), 0, 0); !errors.Is(err, errShort) {
			t.Errorf("%s: %v", text[:end], err)
		}
	}
}

func TestWhatIsKeptIsDecodedAsTheWholeIs(t *testing.T) {
	for _, text := range []string{
		`{}`, `7`, `null`, `{"metadata": null}`, `{"metadata": [{"name": "a"}]}`, `{"spec": {"containers": [{"name": "c"}], "nodeName": "n1", "taints": [ ]}}`,
		`{"meta\u0064ata": {"name": "a"}, "metadata": {"namespace": "b"}}`, `{"status": {"conditions": [{"type": "Ready", "x": {"y": [1, {}]}}, {}], "phase": "Running"}}`,
		`{"metadata": {"labels": {"a": "b", "name": "c"}, "annotations": {"kubernetes.io/config.mirror": "m", "other": "\""}, "creationTimestamp": "2026-05-01T08:00:00Z"}}`,
		`{"spec": {"selector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}}, "data": {"x": "y"}}`,
	} {
		kept, end, err := wanted.keep(nil, []byte(text), 0)
		if err != nil && text != `7` || end != len(text) {
			t.Errorf("%s: %d bytes, %v", text, end, err)
		}
		var whole, part object
		_, _ = json.Unmarshal([]byte(text), &whole), json.Unmarshal(kept, &part)
		if diff := cmp.Diff(whole, part); diff != "" {
			t.Errorf("%s: kept %s (-whole +part):\n%s", text, kept, diff)
		}
	}
}

func TestValuesThatAreNestedTooDeepAreRefused(t *testing.T) {
	text := make([]byte, deepest+1)
	for i := range text {
		text[i] = '['
	}
	if _, err := skip(text, 0, 0); !errors.Is(err, errInvalid) {
		t.Errorf("got %v", err)
	}
}
