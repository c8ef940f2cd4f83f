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

// Each field of a taint or a toleration decides. Other types may have fields that are newer than ours.
func TestAnUnknownFieldOfATaintOrATolerationAndADuplicateFieldAreRefused(t *testing.T) {
	for fields, want := range map[string]string{
		`"metadata": {"name": "a"}, "spec": {"tolerations": [{"key": "m", "Effect": "NoExecute"}]}`: `Go v1.Toleration: unknown object member name "Effect" within "/spec/tolerations/0"`,
		`"metadata": {"name": "a", "name": "b"}`:                                                    `duplicate object member name`,
		`"metadata": {"name": "a"}, "spec": {"tolerations": [{"key": "m", "key": "n"}]}`:            `duplicate object member name`,
		`"metadata": 7`: `JSON number`,
		`"metadata": {"name": "a"}, "status": {"phase": "Running", "phase": "Failed"}`:                                                                                                  `duplicate object member name`,
		`"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"taints": [{"key": "m", "efect": "NoExecute"}]}`:                                                       `unknown object member name "efect" within "/spec/taints/0"`,
		`"kind": "DeviceTaintRule", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "a"}, "spec": {"taint": {"key": "m", "keys": "n"}}`:                                        `unknown object member name "keys" within "/spec/taint"`,
		`"kind": "DeviceTaintRule", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "a"}, "spec": {"deviceSelector": {"drivers": "gpu"}}`:                                      `unknown object member name "drivers" within "/spec/deviceSelector"`,
		`"kind": "ResourceSlice", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "a"}, "spec": {"devices": [{"taints": [{"Key": "m"}]}]}`:                                     `unknown object member name "Key" within "/spec/devices/0/taints/0"`,
		`"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "a"}, "status": {"allocation": {"devices": {"results": [{"tolerations": [{"Key": "m"}]}]}}}`: `unknown object member name "Key" within "/status/allocation/devices/results/0/tolerations/0"`,
	} {
		if !strings.Contains(fields, `"kind"`) {
			fields = `"kind": "Pod", "apiVersion": "v1", ` + fields
		}
		err := dump.ReadAlone(strings.NewReader("{"+fields+"}"), func(any, []time.Time) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fields, err)
		}
	}
	const fine = `{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "labels": null, "generateName": "a-", "selfLink": ""}, "spec": null, "status": {"phase": "Failed", "podIPs": [], "newer": 7}}`
	err := dump.ReadAlone(strings.NewReader(fine), func(o any, _ []time.Time) {
		if p := o.(*v1.Pod); p.Name != "a" || p.Status.Phase != v1.PodFailed {
			t.Errorf("%+v", p)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestManagedFieldsOfNodesAreRead(t *testing.T) {
	const text = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","managedFields":[{"manager":"kubectl-taint",
"time":"2026-05-01T11:05:00Z","fieldsV1":{"f:spec":{"f:taints":{}}}}]}}`
	var got []string
	err := dump.ReadAlone(strings.NewReader(text), func(o any, _ []time.Time) {
		for _, m := range o.(*v1.Node).ManagedFields {
			got = append(got, m.Manager+m.Time.UTC().Format(" 15:04 ")+m.FieldsV1.GetRawString())
		}
	})
	if want := `kubectl-taint 11:05 {"f:spec":{"f:taints":{}}}`; err != nil || strings.Join(got, "") != want {
		t.Errorf("got %q, %v", got, err)
	}
}
