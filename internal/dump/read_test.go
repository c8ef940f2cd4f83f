package dump_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
	"sigs.k8s.io/yaml/kyaml"

	"github.com/taint-manager/taint-manager/internal/dump"
)

// must returns the value. There is no error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// names reads a dump and returns kind and name of each object that the visitor received.
func names(r io.Reader) (list []string, err error) {
	err = dump.ReadAlone(r, func(object any, _ []time.Time) {
		switch o := object.(type) {
		case *v1.Node:
			list = append(list, "node "+o.Name)
		case *v1.Pod:
			list = append(list, "pod "+o.Namespace+"/"+o.Name)
		case *policyv1.PodDisruptionBudget:
			list = append(list, "budget "+o.Namespace+"/"+o.Name)
		case *v1.Event:
			list = append(list, "event "+o.Namespace+"/"+o.Name)
		}
	})
	return list, err
}

// list is as kubectl writes it: a node, a pod, a budget, and a Service, whose kind is not wanted.
const list = `apiVersion: v1
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: n1
- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      note: |
        - apiVersion: v1
          kind: Pod
        ---
        items:

        kind: List
    name: web-0
    namespace: shop
- apiVersion: v1
  kind: Service
  metadata:
    name: web
    namespace: shop
  spec:
    selector: everything
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata:
    name: web
    namespace: shop
kind: List
metadata:
  resourceVersion: ""
`

func asJSON(t *testing.T, text string) string {
	t.Helper()
	converted := must(yaml.YAMLToJSON([]byte(text)))
	var indented bytes.Buffer
	if err := json.Indent(&indented, converted, "", "    "); err != nil {
		t.Fatal(err)
	}
	return indented.String() + "\n"
}

func TestEveryFormThatKubectlWritesIsRead(t *testing.T) {
	items := list[strings.Index(list, "- ") : strings.LastIndex(list, "kind: List")-1]
	all := []string{"node n1", "pod shop/web-0", "budget shop/web"}
	pod := "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-0\n  namespace: shop\n"
	event := "apiVersion: v1\nkind: Event\nmetadata: {name: e, namespace: shop}\n"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a list", list, all},
		{"a list as JSON", asJSON(t, list), all},
		{"a list with carriage returns", strings.ReplaceAll(list, "\n", "\r\n"), all},
		{"a list with a mark of UTF-8", "\ufeff" + list, all},
		{"JSON with a mark of UTF-8", "\ufeff" + asJSON(t, list), all},
		{"a list whose items are indented", strings.Replace(list, items, "  "+strings.ReplaceAll(items, "\n", "\n  "), 1), all},
		{"several lists", list + "---\n" + list, append(append([]string{}, all...), all...)},
		{"several lists as JSON", asJSON(t, list) + asJSON(t, list), append(append([]string{}, all...), all...)},
		{"single objects", "---\n" + pod + "---\n# none\n---\n" + event, []string{"pod shop/web-0", "event shop/e"}},
		{"single objects that end with dots", pod + "...\n" + event, []string{"pod shop/web-0", "event shop/e"}},
		{"single objects without a separator", pod + event + pod, []string{"pod shop/web-0", "event shop/e", "pod shop/web-0"}},
		{"several lists without a separator", list + list + pod, append(append(all[:3:3], all...), "pod shop/web-0")},
		{"single objects as JSON", asJSON(t, pod) + asJSON(t, event), []string{"pod shop/web-0", "event shop/e"}},
		{"a bare array", "[" + asJSON(t, pod) + ", " + asJSON(t, event) + "]", []string{"pod shop/web-0", "event shop/e"}},
		{"JSON after a mark of YAML", "---\n" + asJSON(t, list), all},
		{"a single object without an end of line", strings.TrimSpace(pod), []string{"pod shop/web-0"}},
		{"an empty list", "apiVersion: v1\nitems: []\nkind: List\n", nil},
		{"an empty list as JSON", `{"apiVersion": "v1", "items": [], "kind": "List"}`, nil},
		{"a list of nothing", "apiVersion: v1\nitems:\nkind: List\n", nil},
		{"a list of nothing as JSON", `{"apiVersion": "v1", "items": null, "kind": "List"}`, nil},
		{"a list in one line", `items: [{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}]` + "\nkind: List\napiVersion: v1\n", []string{"pod b/a"}},
		{"the API server's own list", `{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a", "namespace": "b"}}]}`, []string{"pod b/a"}},
		{"a list without a kind", `{"items": [{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "b"}}]}`, []string{"pod b/a"}},
		{"the API server's own list as YAML", "apiVersion: v1\nkind: PodList\nitems:\n# the first\n- metadata:\n    name: a\n    namespace: b\n", []string{"pod b/a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := names(iotest.OneByteReader(strings.NewReader(c.text)))
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v, objects (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A list in the form of "kubectl -o kyaml" is one piece of YAML.
func TestAListOfKYAMLIsReadUnlessItIsTooLong(t *testing.T) {
	pod := func(name string, note int) any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"containers": []any{map[string]any{"name": "c"}, map[string]any{"name": "d"}}},
			"metadata": map[string]any{"name": name, "namespace": "shop", "annotations": map[string]any{"note": strings.Repeat("a line\n", note)}},
		}
	}
	list := func(pods ...any) any {
		return map[string]any{"apiVersion": "v1", "items": pods, "kind": "List", "metadata": map[string]any{"resourceVersion": ""}}
	}
	read := func(objects ...any) ([]string, error) {
		var text bytes.Buffer
		for _, object := range objects {
			if err := new(kyaml.Encoder).FromObject(object, &text); err != nil {
				t.Fatal(err)
			}
		}
		return names(&text)
	}
	got, err := read(list(pod("a", 10), pod("b", 10)), list(), pod("c", 10))
	if diff := cmp.Diff([]string{"pod shop/a", "pod shop/b", "pod shop/c"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	half := dump.MostParsed / 2 / len("a line\n")
	const want = "the YAML at line 2 has more than 3 MiB without an end; write it with -o json"
	if _, err := read(list(pod("a", half), pod("b", half))); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	page := "---\n{\n  apiVersion: \"v1\",\n  items: [{\n    kind: \"Service\",\n  }],\n  kind: \"List\",\n  metadata: {\n    continue: \"x\",\n  },\n}\n"
	if _, err := names(strings.NewReader(page)); err == nil || !strings.Contains(err.Error(), "more objects were left out") {
		t.Errorf("a page: %v", err)
	}
}

// Tools join lists into lists: "jq -s" into an array, "yq" and people into a List.
func TestListsWithinListsAreRead(t *testing.T) {
	all := []string{"node n1", "pod shop/web-0", "budget shop/web"}
	pods := `{"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "a", "namespace": "b"}}]}`
	node := `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}}`
	indented := "- " + strings.ReplaceAll(strings.TrimSpace(list), "\n", "\n  ") + "\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"jq -s":                             {"[" + asJSON(t, list) + "," + pods + "]", append(all, "pod b/a")},
		"jq -s of jq -s":                    {"[[" + pods + "], [" + asJSON(t, list) + "]]", append([]string{"pod b/a"}, all...)},
		"a PodList in a List":               {`{"apiVersion": "v1", "items": [` + pods + `, ` + node + `], "kind": "List"}`, []string{"pod b/a", "node n2"}},
		"a PodList in a List of YAML":       {"apiVersion: v1\nitems:\n- apiVersion: v1\n  items:\n  - metadata: {name: a, namespace: b}\n    apiVersion: v1\n    kind: Pod\n  kind: PodList\n- " + node + "\nkind: List\n", []string{"pod b/a", "node n2"}},
		"an array of YAML":                  {indented, all},
		"an array of YAML, twice":           {indented + "# next\n" + indented, append(all[:3:3], all...)},
		"an array within an array of YAML":  {"- - " + node + "\n", []string{"node n2"}},
		"an array of YAML after a document": {list + "---\n" + indented, append(all[:3:3], all...)},
		"a list of nothing in a list":       {`[{"kind": "PodList", "apiVersion": "v1", "items": null}, ` + pods + `]`, []string{"pod b/a"}},
		"a sorted PodList":                  {`{"apiVersion": "v1", "items": [{"metadata": {"name": "a", "namespace": "b"}}], "kind": "PodList"}`, []string{"pod b/a"}},
		"a sorted PodList in a List":        {`{"apiVersion": "v1", "items": [{"apiVersion": "v1", "items": [{"metadata": {"name": "a", "namespace": "b"}}], "kind": "PodList"}, ` + node + `], "kind": "List"}`, []string{"pod b/a", "node n2"}},
		"the server's list in a YAML list":  {"kind: List\nitems:\n- apiVersion: v1\n  kind: PodList\n  items:\n  - metadata: {name: a, namespace: b}\n", []string{"pod b/a"}},
		"a sorted PodList of YAML":          {"apiVersion: v1\nitems:\n- metadata: {name: a, namespace: b}\n- metadata: {name: c, namespace: d}\nkind: PodList\n", []string{"pod b/a", "pod d/c"}},
		"a misspelt list of whole objects":  {`{"kind": "podlist", "apiVersion": "v1", "items": [` + node + `]}`, []string{"node n2"}},
		"a list of another group":           {`[{"apiVersion": "example.com/v1", "kind": "AllowList"}, {"apiVersion": "example.com/v1", "kind": "Blacklist", "items": ["a"]}, ` + node + `]`, []string{"node n2"}},
		"kinds that are none of these":      {`[{"apiVersion": "v1", "kind": "PodTemplate"}, {"apiVersion": "v1", "kind": "Endpoints"}, {"apiVersion": "batch/v1", "kind": "Job"}, {"apiVersion": "example.com/v1", "kind": "Podd"}, ` + node + `]`, []string{"node n2"}},
		"items of another kind":             {`[{"apiVersion": "v1", "kind": "Service", "items": [1, {}]}, ` + pods + `]`, []string{"pod b/a"}},
	} {
		got, err := names(iotest.OneByteReader(strings.NewReader(c.text)))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// Most of a pod are members that are never needed, and parsing YAML takes time.
func TestLongMembersOfYAMLAreSkippedAndNothingElse(t *testing.T) {
	const pod = `apiVersion: v1
kind: Pod
metadata:
  annotations:
    note: |
      spec:
        containers:
        - x

      status:
    spec: ""
  name: web-0
  namespace: shop
spec:
  containers:
  - command:
    - |
      spec:
    name: c

# one more
  - name: d
  initContainers: []
  nodeName: n1
  tolerations:
  - key: gpu
    operator: Exists
  volumes:
  - name: v
status:
  conditions:
  - status: "True"
    type: Ready
  containerStatuses:
  - name: c
  phase: Running
`
	objects := func(text string) (list []any, err error) {
		err = dump.ReadAlone(strings.NewReader(text), func(object any, _ []time.Time) { list = append(list, object) })
		return list, err
	}
	want, err := objects(asJSON(t, pod))
	if p := want[0].(*v1.Pod); err != nil || p.Spec.NodeName != "n1" || len(p.Spec.Tolerations) != 1 || p.Status.Phase != v1.PodRunning {
		t.Fatalf("%+v, %v", p, err)
	}
	item := func(indent string) string {
		return indent + "- " + strings.ReplaceAll(strings.TrimSpace(pod), "\n", "\n  "+indent) + "\n"
	}
	for name, text := range map[string]string{
		"a document": pod, "a list": "apiVersion: v1\nitems:\n" + item("") + "kind: List\n", "an array": item(""),
		"an indented list": "apiVersion: v1\nitems:\n" + item("    ") + "kind: List\n",
		"a list in a list": "kind: List\napiVersion: v1\nitems:\n- kind: List\n  apiVersion: v1\n  items:\n" + item("  "),
	} {
		got, err := objects(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if _, err = objects(strings.Replace(text, "name: v", "name: [", 1)); (err == nil) != slices.Contains([]string{"a document", "a list", "an array"}, name) {
			t.Errorf("%s, with what can't be parsed in a volume: %v", name, err)
		}
	}
}

// What would lack objects without a word is refused.
func TestWhatHidesObjectsIsRefused(t *testing.T) {
	const forbidden = `{"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "pods is forbidden.", "reason": "Forbidden", "code": 403}`
	for _, c := range []struct{ name, text, want string }{
		{"one page", `{"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "x", "remainingItemCount": 500}, "items": []}`, "the list near byte 0 is one page of a longer list: more objects were left out"},
		{"one page in an array", `[{"kind": "NodeList", "apiVersion": "v1", "items": [], "metadata": {"continue": "x"}}]`, "the list near byte 1 is one page of a longer list: more objects were left out"},
		{"one page of YAML", "items: []\nkind: PodList\napiVersion: v1\nmetadata: {continue: x}\n", "the list in the document at line 1 is one page of a longer list: more objects were left out"},
		{"one page of lines of YAML", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\nmetadata: {continue: x}\n", "the list in the document at line 1 is one page of a longer list: more objects were left out"},
		{"a Status", forbidden, "the object near byte 0 is the Status of a failed request: pods is forbidden"},
		{"a Status among the items", `{"kind": "List", "apiVersion": "v1", "items": [` + forbidden + `]}`, "the object near byte 47 is the Status of a failed request: pods is forbidden"},
		{"a Status in YAML", "---\nkind: Status\napiVersion: v1\nmessage: denied\n", "the object in the document at line 2 is the Status of a failed request: denied"},
		{"a Status without a message", `{"kind": "Status", "apiVersion": "v1", "status": "Failure"}`, "the object near byte 0 is the Status of a failed request"},
		{"one page with items of null", `{"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "x"}, "items": null}`, "the list near byte 0 is one page of a longer list: more objects were left out"},
		{"a list without items", `{"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "x"}}`, `the object near byte 0 is a PodList without "items"`},
		{"a list with capital items", `{"kind": "podlist", "apiVersion": "v1", "Items": [{}]}`, `the object near byte 0 is a podlist without "items"`},
		{"metadata alone", `{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": [{"metadata": {"name": "a"}}]}`, "the object near byte 80 is a PartialObjectMetadata, which lacks most fields"},
		{"metadata alone without items", `{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}`, "the object near byte 0 is a PartialObjectMetadata, which lacks most fields"},
		{"a letter too many", `{"kind": "Podd", "apiVersion": "v1"}`, `the object near byte 0 has apiVersion "v1" and kind "Podd" (did you mean apiVersion: v1, kind: Pod?)`},
		{"a short name", `{"kind": "Po", "apiVersion": "v1"}`, `the object near byte 0 has apiVersion "v1" and kind "Po" (did you mean apiVersion: v1, kind: Pod?)`},
		{"letters too few", `{"kind": "PodDisruptonBudet", "apiVersion": "policy/v1"}`, `the object near byte 0 has apiVersion "policy/v1" and kind "PodDisruptonBudet" (did you mean apiVersion: policy/v1, kind: PodDisruptionBudget?)`},
		{"watch events", `{"type": "ADDED", "object": {"kind": "Pod", "apiVersion": "v1"}}`, "the object near byte 0 is a watch event (run kubectl without --output-watch-events)"},
		{"watch events in YAML", "object:\n  apiVersion: v1\n  kind: Pod\ntype: DELETED\n", "the object in the document at line 1 is a watch event (run kubectl without --output-watch-events)"},
		{"sorted items of no list", `{"items": [{"metadata": {"name": "a"}}]}`, "the object near byte 11 has no kind"},
		{"bare items without a kind", "- metadata: {name: a}\n", "the object in the document at line 1 has no kind"},
		{"a Table", `{"kind": "Table", "apiVersion": "meta.k8s.io/v1", "rows": []}`, "the object near byte 0 is a Table, which lacks most fields"},
		{"a small kind", `{"kind": "pod", "apiVersion": "v1"}`, `the object near byte 0 has apiVersion "v1" and kind "pod" (did you mean apiVersion: v1, kind: Pod?)`},
		{"a kind in the plural", "kind: Nodes\napiVersion: v1\n", `the object in the document at line 1 has apiVersion "v1" and kind "Nodes" (did you mean apiVersion: v1, kind: Node?)`},
		{"a group that does not exist", `{"kind": "Pod", "apiVersion": "core/v1"}`, `the object near byte 0 has apiVersion "core/v1" and kind "Pod" (did you mean apiVersion: v1, kind: Pod?)`},
		{"the items of a misspelt list", `{"kind": "podList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}`, `the object near byte 50 has apiVersion "v1" and kind "pod" (did you mean apiVersion: v1, kind: Pod?)`},
		{"no version", `{"kind": "Pod"}`, `the object near byte 0 has apiVersion "" and kind "Pod" (did you mean apiVersion: v1, kind: Pod?)`},
		{"a node without a name", `{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {}}]}`, `the Node near byte 51 has no name, so it may be truncated`},
		{"a pod without a name", "kind: Pod\napiVersion: v1\nmetadata: {namespace: a}\n", `the Pod in the document at line 1 has no name, so it may be truncated`},
		{"a name that kubectl would take as a flag", `{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "--all"}}`, `the Node near byte 0 has the name "--all", which no API server accepts`},
		{"two lists without a separator", "items: []\nkind: List\nitems: []\n", `invalid document at line 1 (lines are counted from there): yaml: unmarshal errors: line 3: key "items" already set in map`},
		{"a list in YAML that may be cut off", "- items:\n  - {apiVersion: v1, kind: Node, metadata: {name: a}}\n", "the list in the document at line 1 has no kind, so it may be truncated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := names(strings.NewReader(c.text)); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestWhatIsMistakenForADumpIsNamed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\n<!DOCTYPE html>\n<html>", "it is HTML: a login page or a proxy answered instead of the API server"},
		{"NAME      READY   STATUS    RESTARTS   AGE\nweb-0     1/1     Running   0          7d\n", "it is a human-readable table, which lacks most fields"},
		{"7z\xbc\xaf\x27\x1c\x00", "it is a 7z archive (only tar and zip archives are supported)"},
		{"# HELP kube_node_spec_taint The taint of a cluster node.\n", "it contains metrics, which lack tolerations"},
		{"Name:             web-0\nNamespace:        shop\n", "it is the output of kubectl describe, which cannot be parsed"},
		{strings.Repeat("\x01", 16) + "\xed\xda\x0c\xed", "it is a snapshot of etcd, which cannot be parsed"},
		{"NAMESPACE   LAST SEEN   TYPE      REASON\n", "it is a human-readable table, which lacks most fields"},
		{"No resources found in shop namespace.\n", "it is a kubectl message: No resources found in shop namespace"},
		{"The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?\n", "it is a kubectl message: The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?"},
		{"Error from server (Forbidden): " + strings.Repeat("x", 2000), "it is a kubectl message: Error from server (Forbidden): " + strings.Repeat("x", 990) + "..."},
		{"Error from server (Forbidden): pods is forbidden\n", "it is a kubectl message: Error from server (Forbidden): pods is forbidden"},
	} {
		if _, err := names(strings.NewReader(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// A truncation is found wherever it is: the missing part could contain the pod that matters.
func TestADumpThatIsCutOffIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"YAML": list, "JSON": asJSON(t, list), "an array of YAML": "- " + strings.ReplaceAll(strings.TrimSpace(list), "\n", "\n  ") + "\n",
	} {
		complete := strings.LastIndex(text, "}")
		if strings.HasSuffix(name, "YAML") {
			complete = strings.LastIndex(text, "kind: ") + len("kind: ")
		}
		for end := len("- a"); end <= complete; end++ {
			if _, err := names(strings.NewReader(text[:end])); err == nil {
				t.Fatalf("%s cut after %d bytes of %d is taken: ...%q", name, end, len(text), text[max(0, end-40):end])
			}
		}
	}
}

func TestWhatIsWrongWithADumpIsNamedWithItsPlace(t *testing.T) {
	upTo := func(text, mark string) string { before, _, _ := strings.Cut(text, mark); return before }
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "it is empty"},
		{"spaces", " \n\n", "it is empty"},
		{"a form feed", "\f\n", "it is empty"},
		{"a space of Unicode", "\u00a0\n\v\n[1]", "expected a Kubernetes object, found 1 near byte 1"},
		{"UTF-16", "\xff\xfea\x00", "it is in UTF-16 (in PowerShell, use '| Out-File -Encoding utf8 FILE' instead of >)"},
		{"YAML between items", upTo(list, "- apiVersion: v1\n  kind: Service"), "the list in the document at line 1 has no kind, so it may be truncated"},
		{"YAML within an item", upTo(list, "space: shop"), "invalid document at line 7 (lines are counted from there): yaml: line 14: could not find expected ':'"},
		{"JSON within an item", upTo(asJSON(t, list), `"kind": "Service"`), "it is truncated at byte 575"},
		{"JSON between items", upTo(asJSON(t, list), `"kind": "List"`), "it is truncated at byte 1010"},
		{"no YAML", "kind: Pod\n\tx: y\n", "invalid document at line 1 (lines are counted from there): yaml: line 2: found a tab"},
		{"no YAML in an item", "items:\n- kind: Service\n  apiVersion: v1\n- kind: [\n- kind: Pod\nkind: List\n", "invalid document at line 4 (lines are counted from there): yaml: "},
		{"no JSON", `{"items": [{"kind": "Pod", oops}]}`, "invalid JSON after byte 27: invalid character 'o' at start of value"},
		{"a text", "Error from server (Forbidden)\n", "it is a kubectl message: Error from server (Forbidden)"},
		{"a number", `[1, 2]`, "expected a Kubernetes object, found 1 near byte 1"},
		{"a long text in YAML", "- " + strings.Repeat("x", 2000) + "\n", `expected a Kubernetes object, found "` + strings.Repeat("x", 1020) + "... in the document at line 1"},
		{"JSON within YAML", "kind: Pod\napiVersion: v1\n{\n}\n", "invalid document at line 1 (lines are counted from there): yaml: "},
		{"JSON within a list of YAML", list + "{\n}\n", "invalid document at line 32 (lines are counted from there): yaml: "},
		{"no JSON after YAML", "kind: Service\napiVersion: v1\n---\n{\n", "invalid document at line 4 (lines are counted from there): yaml: line 1: did not find expected node content"},
		{"no gzip", "\x1f\x8boops", "invalid gzip data: "},
		{"half of a gzip", compressed(t, "gzip", list)[:200], "reading it failed after line "},
		{"half of a zstd", compressed(t, "zstd", list)[:200], "reading it"},
		{"items that are no list", `{"items": 7}`, "the object near byte 0 has no kind"},
		{"an item without a kind", `{"items": [{"metadata": {"name": "a"}}]}`, "the object near byte 11 has no kind"},
		{"an item without a kind in YAML", "items:\n- metadata:\n    name: a\nkind: List\n", "the object in the document at line 2 has no kind"},
		{
			"tolerations that are no list", `{"items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "b"}, "spec": {"tolerations": 7}}]}`,
			"invalid Pod b/a near byte 11: json: ",
		},
		{"a misspelt member in lines of YAML", "kind: Pod\napiVersion: v1\nmetadata:\n  name: a\nspec:\n  tolerations:\n  - keey: m\n", "invalid Pod a in the document at line 1: json: "},
		{"a time that is none", `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "creationTimestamp": "yesterday"}}`, "invalid Node a near byte 0: json: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := names(strings.NewReader(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAnErrorOfTheReaderIsReportedAsSuch(t *testing.T) {
	for name, text := range map[string]string{"YAML": list, "JSON": asJSON(t, list)} {
		broken := errors.New("the disk is gone")
		_, err := names(io.MultiReader(strings.NewReader(text[:len(text)/2]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "reading it failed a") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestWhatIsTooLargeIsRefusedBeforeItFillsTheMemory(t *testing.T) {
	for _, c := range []struct{ text, line, want string }{
		{`{"items": [{"kind": "Pod", "x": "`, "y", "the object near byte 11 is larger than an API server allows"},
		{"items:\n- kind: Pod\n  x: ", "y", "the YAML at line 2 has more than 3 MiB without an end; write it with -o json"},
		{"items:\n- kind: Pod\n  x:\n", "  y: z\n", "the YAML at line 2 has more than 3 MiB without an end; write it with -o json"},
	} {
		endless := &io.LimitedReader{R: forever(c.line), N: 1 << 30}
		if _, err := names(io.MultiReader(strings.NewReader(c.text), endless)); err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
		if read := 1<<30 - endless.N; read > 65<<20 {
			t.Errorf("%q: read %d MiB", c.text, read>>20)
		}
	}
}

// Each of them may have as many bytes of items that wait for its kind as one list may have.
func TestSortedListsOfAnySizeInAllAreRead(t *testing.T) {
	list := `{"apiVersion": "v1", "items": [{"x": "` + strings.Repeat("x", 28<<20) + `"}], "kind": "ServiceList"}`
	var lists []io.Reader
	for range 10 {
		lists = append(lists, strings.NewReader(list))
	}
	if _, err := names(io.MultiReader(lists...)); err != nil {
		t.Error(err)
	}
}

// forever is an endless text.
type forever string

func (f forever) Read(p []byte) (n int, _ error) {
	for n < len(p) {
		n += copy(p[n:], f)
	}
	return n, nil
}

// The fields that are read have the same values as in the types of Kubernetes. Devices have other members than pods.
func TestObjectsAreReadAsKubernetesWouldReadThem(t *testing.T) {
	text, err := yaml.YAMLToJSON([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"YAML": whole, "JSON": asJSON(t, whole)} {
		i := 0
		if err := dump.ReadAlone(strings.NewReader(text), func(got any, _ []time.Time) {
			empty := reflect.New(reflect.TypeOf(got).Elem()).Interface()
			if err := json.Unmarshal(want.Items[i], empty); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(stripped(empty), got); diff != "" {
				t.Errorf("%s, item %d (-Kubernetes +got):\n%s", name, i, diff)
			}
			i++
		}); err != nil || i != len(want.Items) {
			t.Errorf("%s: %d objects, %v", name, i, err)
		}
	}
}

// They may both be there, without a resourceVersion. The last time is that of the series.
func TestAnEventIsTheSameInBothVersionsOfTheAPI(t *testing.T) {
	const common = `kind: Event
metadata: {name: e, namespace: shop, uid: u}
reason: Killing
type: Normal
action: Kill
reportingInstance: kubelet-n1
related: {kind: Node, name: n1}
series: {count: 5, lastObservedTime: "2026-05-01T10:30:00.000000Z"}
`
	const core = `apiVersion: v1
involvedObject: {kind: Pod, namespace: shop, name: web-0, uid: u2}
message: Stopping
source: {component: kubelet, host: n1}
reportingComponent: kubelet
firstTimestamp: "2026-05-01T10:00:00Z"
count: 2
` + common
	const later = `apiVersion: events.k8s.io/v1
regarding: {kind: Pod, namespace: shop, name: web-0, uid: u2}
note: Stopping
deprecatedSource: {component: kubelet, host: n1}
reportingController: kubelet
deprecatedFirstTimestamp: "2026-05-01T10:00:00Z"
deprecatedCount: 2
` + common
	last := time.Date(2026, 5, 1, 10, 30, 0, 0, time.UTC)
	var got []*v1.Event
	err := dump.ReadAlone(strings.NewReader(core+"---\n"+later), func(o any, times []time.Time) {
		e := o.(*v1.Event)
		got = append(got, e)
		if e.InvolvedObject.Name != "web-0" || e.Message != "Stopping" || e.Source.Host != "n1" ||
			e.ReportingController != "kubelet" || e.Count != 2 || !e.LastTimestamp.Time.Equal(last) || !slices.ContainsFunc(times, last.Equal) {
			t.Errorf("%+v, times %v", e, times)
		}
	})
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Errorf("(-v1 +events.k8s.io/v1):\n%s", diff)
	}
}

func TestAnEmptySelectorSelectsNothingInTheFirstVersionOfBudgets(t *testing.T) {
	for budget, nothing := range map[string]bool{
		"policy/v1\nspec: {selector: {}}": false, "policy/v1beta1\nspec: {selector: {}}": true, "policy/v1beta1\nspec: {}": true,
		"policy/v1beta1\nspec: {selector: {matchLabels: {a: b}}}": false,
	} {
		text := "kind: PodDisruptionBudget\nmetadata: {name: a, namespace: b}\napiVersion: " + budget
		err := dump.ReadAlone(strings.NewReader(text), func(o any, _ []time.Time) {
			if selector := o.(*policyv1.PodDisruptionBudget).Spec.Selector; (selector == nil) != nothing {
				t.Errorf("%s: got %v", budget, selector)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", budget, err)
		}
	}
}

func TestTheMasksOfRedactorsAreKnown(t *testing.T) {
	for value, want := range map[string]bool{
		"***HIDDEN***": true, "***TOKEN_a1***": true, "REDACTED": true, "<redacted>": true, "xxxxx": true, "****": true,
		"team-REDACTED": true, "": false, "2f0c6d1e-9f6c-4a8e-8d0e-3f1f6a5d2b7c": false, "proxy": false, "*.example.com": false,
	} {
		if got := dump.Masked(value); got != want {
			t.Errorf("%q: got %t", value, got)
		}
	}
}

// stripped returns the object without the fields that are not kept: its type, which is known.
func stripped(object any) any {
	object.(runtime.Object).GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return object
}

// whole has every field that is read.
const whole = `apiVersion: v1
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n1, uid: u1, creationTimestamp: "2026-05-01T08:00:00Z", labels: {rack: "7"}}
  spec:
    taints:
    - {key: gpu, value: a100, effect: NoExecute, timeAdded: "2026-05-01T09:00:00Z"}
    - {key: disk, effect: NoSchedule}
- apiVersion: v1
  kind: Pod
  metadata:
    name: web-0
    namespace: shop
    uid: u2
    generation: 3
    creationTimestamp: "2026-05-01T08:00:00Z"
    deletionTimestamp: "2026-05-01T10:00:00Z"
    labels: {app: web}
    annotations: {kubernetes.io/config.mirror: abc}
    ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: u3, controller: true}]
  spec:
    nodeName: n1
    priority: 100
    tolerations:
    - {key: gpu, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
    - {operator: Exists}
  status:
    phase: Running
    conditions:
    - {type: PodScheduled, status: "True", lastTransitionTime: "2026-05-01T08:00:01Z"}
    - {type: DisruptionTarget, status: "True", reason: DeletionByTaintManager, message: 'it
        goes', lastTransitionTime: "2026-05-01T10:00:00Z", observedGeneration: 3}
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: web, namespace: shop, uid: u4, generation: 2, creationTimestamp: "2026-05-01T08:00:00Z"}
  spec:
    selector: {matchLabels: {app: web}, matchExpressions: [{key: tier, operator: In, values: [a, b]}]}
    unhealthyPodEvictionPolicy: AlwaysAllow
  status: {observedGeneration: 2, disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2}
- apiVersion: v1
  kind: Event
  metadata: {name: e1, namespace: shop, uid: u5, creationTimestamp: "2026-05-01T08:00:00Z"}
  involvedObject: {kind: Pod, namespace: shop, name: web-0, uid: u2, apiVersion: v1}
  reason: TaintManagerEviction
  message: Marking for deletion Pod shop/web-0
  type: Normal
  firstTimestamp: "2026-05-01T10:00:00Z"
  lastTimestamp: "2026-05-01T10:00:00Z"
  eventTime: "2026-05-01T10:00:00.123456Z"
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: taint-manager-journal-0, namespace: kube-system, uid: u6, creationTimestamp: "2026-05-01T08:00:00Z"}
  data: {_journal: '{"version":1}'}
- apiVersion: v1
  kind: Namespace
  metadata: {name: shop, uid: u7, creationTimestamp: "2026-05-01T08:00:00Z", labels: {team: a}}
- apiVersion: resource.k8s.io/v1
  kind: ResourceClaim
  metadata:
    name: a
  status:
    allocation:
      devices:
        results:
        - device: d
    reservedFor:
    - name: pod
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata:
    name: b
  spec:
    devices:
    - name: d
    driver: gpu
    pool:
      name: p
- apiVersion: resource.k8s.io/v1
  kind: DeviceTaintRule
  metadata:
    name: c
  spec:
    deviceSelector:
      driver: gpu
    taint:
      key: m
kind: List
`

// compressed returns the compressed text.
func compressed(t *testing.T, by, text string) string {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&out)
	if by == "zstd" {
		w = must(zstd.NewWriter(&out))
	}
	must(io.WriteString(w, text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The newest timestamp shows how old a dump is.
func TestTheTimesOfADumpAreTold(t *testing.T) {
	var newest time.Time
	node := "apiVersion: v1\nkind: Node\nmetadata: {name: a, creationTimestamp: \"2026-05-01T08:00:00Z\"}\nstatus: {conditions: [{type: Ready, lastHeartbeatTime: \"2026-05-01T12:00:07Z\", lastTransitionTime: \"2026-05-01T09:00:00Z\"}]}\n"
	event := "apiVersion: v1\nkind: Event\nmetadata: {name: a, namespace: b}\neventTime: \"2026-05-01T12:00:08.500000Z\"\n"
	other := "apiVersion: v1\nkind: Service\nmetadata: {name: a, creationTimestamp: \"2027-05-01T08:00:00Z\"}\n"
	going := "apiVersion: v1\nkind: Pod\nmetadata: {name: a, deletionTimestamp: \"2026-05-01T12:00:30Z\"}\n" // the end of its grace period
	for text, want := range map[string]string{node: "12:00:07", node + "---\n" + event: "12:00:08.5", node + "---\n" + other: "12:00:07", node + "---\n" + going: "12:00:07"} {
		newest = time.Time{}
		err := dump.ReadAlone(strings.NewReader(text), func(_ any, times []time.Time) {
			newest = slices.MaxFunc(append(times, newest), time.Time.Compare)
		})
		if got := newest.UTC().Format("15:04:05.9"); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}
