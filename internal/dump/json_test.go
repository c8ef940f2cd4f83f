package dump_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
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
	if err == nil || !strings.HasPrefix(err.Error(), "invalid JSON after byte ") {
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

// A field that is not read would be missing in the verdict.
func TestAFieldThatIsMisspeltOrThereTwiceIsRefused(t *testing.T) {
	for fields, want := range map[string]string{
		`"metadata": {"name": "a", "DeletionTimestamp": "2026-05-01T10:00:00Z"}`:                    `unknown field "DeletionTimestamp" in ObjectMeta`,
		`"metadata": {"name": "a", "Labels": {}}`:                                                   `unknown field "Labels" in ObjectMeta`,
		`"metadata": {"name": "a", "ownerReference": []}`:                                           `unknown field "ownerReference" in ObjectMeta`,
		`"metadata": {"name": "a"}, "status": {"Phase": "Failed"}`:                                  `unknown field "Phase" in PodStatus`,
		`"metadata": {"name": "a"}, "spec": {"toleration": []}`:                                     `unknown field "toleration" in PodSpec`,
		`"metadata": {"name": "a"}, "spec": {"tolerations": [{"key": "m", "Effect": "NoExecute"}]}`: `/spec/tolerations/0/Effect": unknown field "Effect" in Toleration`,
		`"metadata": {"name": "a", "name": "b"}`:                                                    `duplicate object member name`,
		`"metadata": {"name": "a"}, "spec": {"tolerations": [{"key": "m", "key": "n"}]}`:            `duplicate object member name`,
		`"metadata": 7`: `JSON number`,
		`"metadata": {"name": "a"}, "spec": {"tolerrations": []}`:                                                        `unknown field "tolerrations" in PodSpec`,
		`"metadata": {"name": "a"}, "nodeName": "n1"`:                                                                    `unknown field "nodeName" in Pod`,
		`"metadata": {"name": "a"}, "spec": {"phase": "Failed"}`:                                                         `unknown field "phase" in PodSpec`,
		`"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"tains": []}`:                           `unknown field "tains" in NodeSpec`,
		`"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"tants": []}`:                           `unknown field "tants" in NodeSpec`,
		`"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}, "status": {"taints": []}`:                        `unknown field "taints" in NodeStatus`,
		`"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}, "taints": []`:                                    `unknown field "taints" in Node`,
		`"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}, "Spec": {"taints": []}`:                          `unknown field "Spec" in Node`,
		`"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": "a"}, "spec": {"selectors": {}}`: `unknown field "selectors" in PodDisruptionBudgetSpec`,
	} {
		if !strings.Contains(fields, `"kind"`) {
			fields = `"kind": "Pod", "apiVersion": "v1", ` + fields
		}
		err := dump.ReadAlone(strings.NewReader("{"+fields+"}"), func(any, []time.Time) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fields, err)
		}
	}
	const fine = `{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "labels": null, "generateName": "a-", "selfLink": ""}, "spec": null, "status": {"phase": "Failed", "podIPs": []}}`
	err := dump.ReadAlone(strings.NewReader(fine), func(o any, _ []time.Time) {
		if p := o.(*v1.Pod); p.Name != "a" || p.Status.Phase != v1.PodFailed {
			t.Errorf("%+v", p)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
