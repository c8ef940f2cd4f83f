package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/policy"
)

const head = "apiVersion: taint-manager/v1alpha1\nkind: TaintManagerConfiguration\n"

// decode decodes a file over the default.
func decode(text string) (config.Configuration, []error) {
	c := config.Default()
	errs := config.Decode("config.yaml", []byte(text), &c)
	return c, errs
}

// mustDecode fails the test on errors.
func mustDecode(t *testing.T, text string) config.Configuration {
	t.Helper()
	c, errs := decode(text)
	if len(errs) > 0 {
		t.Fatalf("refused: %v\n%s", errs, text)
	}
	return c
}

// read returns a file of testdata.
func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAFileThatSaysNothingIsTheDefault(t *testing.T) {
	if diff := cmp.Diff(config.Default(), mustDecode(t, head)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// full.yaml sets everything to another value than the default.
func TestEachSettingOfAFileIsApplied(t *testing.T) {
	checkDiffer(t, reflect.ValueOf(mustDecode(t, read(t, "full.yaml"))), reflect.ValueOf(config.Default()), "")
}

// checkDiffer reports each field with the same value in both structs.
func checkDiffer(t *testing.T, got, byDefault reflect.Value, path string) {
	for i := range got.NumField() {
		at := path + "." + got.Type().Field(i).Name
		switch {
		case slices.Contains([]string{".APIVersion", ".Kind", ".LeaderElection.ResourceLock"}, at): // they have one value
		case got.Field(i).Kind() == reflect.Struct && strings.HasPrefix(got.Field(i).Type().PkgPath(), "github.com/taint-manager/taint-manager/internal/config"):
			checkDiffer(t, got.Field(i), byDefault.Field(i), at)
		case reflect.DeepEqual(got.Field(i).Interface(), byDefault.Field(i).Interface()):
			t.Errorf("%s is %v, as without the file", at, got.Field(i).Interface())
		}
	}
}

func TestJSONIsReadAsYAMLIs(t *testing.T) {
	written, err := yaml.YAMLToJSON([]byte(read(t, "full.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	var indented any
	if err := json.Unmarshal(written, &indented); err != nil {
		t.Fatal(err)
	}
	if written, err = json.MarshalIndent(indented, "", "\t"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mustDecode(t, read(t, "full.yaml")), mustDecode(t, string(written))); diff != "" {
		t.Errorf("(-YAML +JSON):\n%s", diff)
	}
}

func TestPoliciesAndGuardsAreDecoded(t *testing.T) {
	file := mustDecode(t, read(t, "policies.yaml"))
	written, err := yaml.Marshal(struct {
		Policies []policy.Policy `json:"policies"`
		Guards   policy.Guards   `json:"guards"`
	}{file.Policies, file.Guards})
	if err != nil {
		t.Fatal(err)
	}
	generated(t, "testdata/policies.golden", string(written))
}

func TestAMomentIsTakenInAnyZone(t *testing.T) {
	for text, want := range map[string]string{
		`2026-11-22T10:00:00Z`: "2026-11-22T10:00:00Z", `"2026-11-22T10:00:00+01:00"`: "2026-11-22T09:00:00Z",
		`"2026-11-22T10:00:00+24:00"`: "2026-11-21T10:00:00Z",
	} {
		file := mustDecode(t, head+"guards: {breakers: [{name: a, taints: [{key: a}], maxNodes: 1, resetBefore: "+text+"}]}\n")
		if got := file.Guards.Breakers[0].ResetBefore.UTC().Format(time.RFC3339); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// YAML 1.1 has other names for true and false, and 2026-11-22 is a time.
func TestTextsAreKeptAsTheyAreWritten(t *testing.T) {
	c := mustDecode(t, head+"policies: [{name: a, method: Hold, match: {namespaces: [no, y, on, 2026-11-22], podSelector: {matchLabels: {a: off}}}}]\n")
	if diff := cmp.Diff([]string{"no", "y", "on", "2026-11-22"}, c.Policies[0].Match.Namespaces); diff != "" || c.Policies[0].Match.PodSelector.MatchLabels["a"] != "off" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheMethodIsOneOfThree(t *testing.T) {
	for _, want := range []policy.Method{policy.Delete, policy.Evict, policy.Ignore} {
		if c := mustDecode(t, head+"eviction: {method: "+string(want)+"}\n"); c.Eviction.Method != want {
			t.Errorf("%s: got %q", want, c.Eviction.Method)
		}
	}
}

// Refusing a file costs no more than reading it, whatever it contains, and the refusals fit on a screen or two.
func TestHostileFilesAreRefusedAtABoundedCost(t *testing.T) {
	for name, text := range map[string]string{
		"many items":         "policies: [" + strings.Repeat("a,", 120_000) + "a]",
		"many objects":       "policies: [" + strings.Repeat("{a: b},", 35_000) + "a]",
		"many fields":        strings.Repeat("a:\n", 85_000),
		"many aliases":       "a: &a [x]\n" + strings.Repeat("b: *a\n", 42_000),
		"aliases of aliases": "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\npolicies: [*c,*c]\n",
		"deep":               "policies: " + strings.Repeat("{a: ", 9_000) + "b" + strings.Repeat("}", 9_000),
		"a long name":        strings.Repeat("a", 1_000_000) + ": b",
		"many policies":      "policies:\n" + strings.Repeat("- {name: a, method: Hold}\n", 10_000),
		"one name":           "policies:\n" + strings.Repeat("- {name: a, method: Hold}\n", 1_000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, errs := decode(head + text)
		runtime.ReadMemStats(&after)
		if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; len(errs) == 0 || len(errs) > 101 || allocated > 1000 {
			t.Errorf("%s: %d errors for %d MB", name, len(errs), allocated)
		}
	}
}

// refusedFiles returns the files in testdata/refused.txt: texts after lines that begin with "# ", without the head if a
// text does not have its own.
func refusedFiles(t *testing.T) (names, texts []string) {
	for part := range strings.SplitSeq(read(t, "refused.txt"), "\n### ") {
		name, text, _ := strings.Cut(strings.TrimPrefix(part, "### "), "\n")
		if !strings.Contains(text, "kind:") && !strings.HasPrefix(name, "whole: ") {
			text = head + text
		}
		names, texts = append(names, name), append(texts, text)
	}
	names = append(names, "whole: more than a ConfigMap holds", "whole: not in UTF-8", "whole: nested deeply", "more errors than anybody reads", "more policies than there may be")
	texts = append(texts, strings.Repeat("#", config.MaxFileSize+1), "\xff", strings.Repeat("[", 100_000),
		head+strings.Repeat("x: 1\n", 200), head+"policies:\n"+manyPolicies(1001))
	return names, texts
}

func manyPolicies(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "- {name: p%d, method: Hold}\n", i)
	}
	return all.String()
}

// refusedInFiles returns the content of the golden file.
func refusedInFiles(t *testing.T) string {
	var got strings.Builder
	names, texts := refusedFiles(t)
	for i, text := range texts {
		_, errs := decode(text)
		if len(errs) == 0 {
			t.Errorf("%s: got no error", names[i])
		}
		if strings.HasPrefix(names[i], "more errors") {
			errs = errs[len(errs)-1:]
		}
		fmt.Fprintf(&got, "%s:\n", names[i])
		for _, r := range errs {
			fmt.Fprintf(&got, "\t%s\n", r.Error())
		}
	}
	return got.String()
}

func TestEveryRefusalOfAFileReadsAsTheGoldenFileHasIt(t *testing.T) {
	generated(t, "testdata/refused.golden", refusedInFiles(t))
}
