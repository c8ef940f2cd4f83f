package dump_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/dump"
)

// values generates texts that are JSON, nearly JSON, or truncated.
func values() *rapid.Generator[string] {
	token := rapid.SampledFrom([]string{
		`{`, `}`, `[`, `]`, `,`, `:`, ` `, "\n", `"a"`, `"a":`, `"`, `\`, `"\u00e9"`, `"\ud800"`, `"\u00zz"`, `"\n"`, `"\x"`,
		"\"\t\"", "\x00", "ü", "\"\xff\"", "\xff", `true`, `false`, `null`, `nul`, `0`, `00`, `-1`, `-`, `1.5e+3`, `1.`, `1e`,
		`.5`, `{}`, `[]`, `[1, 2]`, `{"metadata": {"name": "b", "x": 7}}`, `"items": [1]`,
	})
	return rapid.Map(rapid.SliceOfN(token, 1, 12), func(tokens []string) string { return strings.Join(tokens, "") })
}

func TestADumpTakesTheJSONThatEncodingJSONTakes(t *testing.T) {
	check := func(t rapid.TB, value string) {
		text := `[{"apiVersion": "v1", "kind": "Service", "spec": ` + value + `}]`
		var objects []json.RawMessage
		want := json.Unmarshal([]byte(text), &objects) == nil
		if len(objects) > 1 {
			return // the value has ended the object, and begun another one
		}
		err := dump.ReadAlone(strings.NewReader(text), func(any, []time.Time) {})
		if (err == nil) != want {
			t.Fatalf("%q: %v, encoding/json says %t", text, err, want)
		}
	}
	for _, value := range []string{`{"a": 1, "a": 2}`, "\"\xff\"", `"\ud800"`, `{"\ud800": 1}`, `1e999`, "\ufeff1", "\"\u2028\"", "\"\x7f\""} {
		check(t, value)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, values().Draw(t, "value")) })
}

func TestValuesThatAreNestedTooDeepAreRefused(t *testing.T) {
	text := strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	err := dump.ReadAlone(strings.NewReader(`{"kind": "Service", "spec": `+text+`}`), func(any, []time.Time) {})
	if err == nil || !strings.HasPrefix(err.Error(), "it is not JSON after byte ") {
		t.Errorf("got %v", err)
	}
}

// The kinds that are not read may have anything in the place of fields that are.
func TestAnObjectOfAnotherKindMayHaveAnyFields(t *testing.T) {
	const fields = `"metadata": {"labels": 7}, "spec": {"taints": "x", "tolerations": {}}, "status": [], "type": 7, "data": [1]`
	for _, object := range []string{`{` + fields + `, "apiVersion": "v1", "kind": "Service"}`, `{"apiVersion": "longhorn.io/v1beta2", "kind": "Node", ` + fields + `}`} {
		for _, text := range []string{object, `[` + object + `]`, `{"items": [` + object + `]}`} {
			if err := dump.ReadAlone(strings.NewReader(text), func(any, []time.Time) {}); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}
