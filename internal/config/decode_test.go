package config_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
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
func decode(text string) (config.Configuration, *config.File, []config.Refusal) {
	c := config.Default()
	file, refusals := config.Decode("config.yaml", []byte(text), c.Settings)
	return c, file, refusals
}

// mustDecode fails the test on refusals.
func mustDecode(t *testing.T, text string) (config.Configuration, *config.File) {
	t.Helper()
	c, file, refusals := decode(text)
	if len(refusals) > 0 {
		t.Fatalf("refused: %v\n%s", refusals, text)
	}
	return c, file
}

// read returns a file of testdata.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAFileThatSaysNothingIsTheDefault(t *testing.T) {
	c, file := mustDecode(t, head)
	if diff := cmp.Diff(config.Default(), c); diff != "" || len(file.Set) > 0 {
		t.Errorf("%d settings are set (-want +got):\n%s", len(file.Set), diff)
	}
}

func TestTheDefaultsThatArePrintedAreTheDefault(t *testing.T) {
	d := config.Default()
	c, file := mustDecode(t, config.Defaults(d.Settings()))
	if diff := cmp.Diff(d, c); diff != "" || len(file.Set) != len(d.Settings()) {
		t.Errorf("%d of %d settings are set (-want +got):\n%s", len(file.Set), len(d.Settings()), diff)
	}
}

// full.yaml sets everything to another value than the default.
func TestEachSettingOfAFileIsTakenIn(t *testing.T) {
	c, file := mustDecode(t, read(t, "full.yaml"))
	d := config.Default()
	got, byDefault := c.Settings(), d.Settings()
	for i := range got {
		if got[i].Flag == "leader-elect-resource-lock" { // only one kind exists
			continue
		}
		if file.Set[got[i].Flag] == 0 || got[i].Value.String() == byDefault[i].Value.String() {
			t.Errorf("%s is %s, as without the file", got[i].Field, got[i].Value.String())
		}
	}
	if c.EvictionMethod != config.MethodEvict || c.Shards != 4 || c.LeaderElection.LeaseDuration.Duration != time.Minute || !c.Paused {
		t.Errorf("got %+v", c)
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
	asYAML, yamlFile := mustDecode(t, read(t, "full.yaml"))
	asJSON, jsonFile := mustDecode(t, string(written))
	if diff := cmp.Diff(asYAML, asJSON); diff != "" || len(yamlFile.Set) != len(jsonFile.Set) {
		t.Errorf("%d and %d settings (-YAML +JSON):\n%s", len(yamlFile.Set), len(jsonFile.Set), diff)
	}
}

func TestPoliciesAndGuardsAreDecoded(t *testing.T) {
	_, file := mustDecode(t, read(t, "policies.yaml"))
	written, err := yaml.Marshal(struct {
		Policies []policy.Policy `json:"policies"`
		Guards   policy.Guards   `json:"guards"`
	}{file.Policies, file.Guards})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "policies.golden", string(written))
}

func TestAMomentIsTakenInAnyZone(t *testing.T) {
	for text, want := range map[string]string{
		`2026-11-22T10:00:00Z`: "2026-11-22T10:00:00Z", `"2026-11-22T10:00:00+01:00"`: "2026-11-22T09:00:00Z",
		`"2026-11-22T10:00:00+24:00"`: "2026-11-21T10:00:00Z",
	} {
		_, file := mustDecode(t, head+"guards: {breakers: [{name: a, taints: [{key: a}], maxNodes: 1, resetBefore: "+text+"}]}\n")
		if got := file.Guards.Breakers[0].ResetBefore.UTC().Format(time.RFC3339); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestTheMethodIsOneOfThree(t *testing.T) {
	for text, want := range map[string]config.Method{"Delete": config.MethodDelete, "Evict": config.MethodEvict, "Ignore": config.MethodIgnore} {
		if c, _ := mustDecode(t, head+"eviction: {method: "+text+"}\n"); c.EvictionMethod != want || string(c.EvictionMethod.Policy()) != text {
			t.Errorf("%s: got %q", text, c.EvictionMethod)
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
		_, _, refusals := decode(head + text)
		runtime.ReadMemStats(&after)
		if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; len(refusals) == 0 || len(refusals) > 101 || allocated > 1000 {
			t.Errorf("%s: %d refusals for %d MB", name, len(refusals), allocated)
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
	names = append(names, "whole: more than a ConfigMap holds", "whole: not in UTF-8", "whole: nested deeply", "more refusals than anybody reads", "more policies than there may be")
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
		_, _, refusals := decode(text)
		if len(refusals) == 0 {
			t.Errorf("%s: got no refusal", names[i])
		}
		if strings.HasPrefix(names[i], "more refusals") {
			refusals = refusals[len(refusals)-1:]
		}
		fmt.Fprintf(&got, "%s:\n", names[i])
		for _, r := range refusals {
			fmt.Fprintf(&got, "\t%s\n", r.Error())
		}
	}
	return got.String()
}

func TestEveryRefusalOfAFileReadsAsTheGoldenFileHasIt(t *testing.T) {
	golden(t, "refused.golden", refusedInFiles(t))
}

// The words of each refusal in the source are in one line of the golden file.
func TestTheGoldenFileHoldsEveryRefusalOfAFile(t *testing.T) {
	lines, calls := strings.Split(refusedInFiles(t), "\n"), 0
	for _, pattern := range []string{"decode*.go", "../../policy/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				calls += checkPhrases(t, name, lines)
			}
		}
	}
	if calls < 50 {
		t.Errorf("%d refusals were looked for", calls)
	}
}

// notFromFiles are refusals that no file causes: shapes refuse such an effect and an empty list earlier, and a file of
// the right shape can be read.
var notFromFiles = []string{
	"it takes NoExecute or NoSchedule", "it takes keys of taints, which say that a node is affected", "it can't be read (",
}

func checkPhrases(t *testing.T, name string, lines []string) (calls int) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		called := ""
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			called = f.Sel.Name
		case *ast.Ident:
			called = f.Name
		}
		if phrases := phrasesOf(t, call); len(phrases) > 0 && (strings.HasPrefix(called, "refuse") || called == "whole") {
			calls++
			if !anyHoldsAll(lines, phrases) && !slices.ContainsFunc(phrases, func(s string) bool { return slices.Contains(notFromFiles, s) }) {
				t.Errorf("%s: no line of the golden file holds all of %q: add a file to refused.txt that brings it about", name, phrases)
			}
		}
		return true
	})
	return calls
}

// phrasesOf returns the constant parts of a call's texts, which are its last two arguments.
func phrasesOf(t *testing.T, call *ast.CallExpr) (all []string) {
	for _, argument := range call.Args[max(len(call.Args)-2, 0):] {
		ast.Inspect(argument, func(n ast.Node) bool {
			if _, inner := n.(*ast.CallExpr); inner && n != argument {
				return false
			}
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, verbs.Split(text, -1)...)
			return true
		})
	}
	return all
}

var verbs = regexp.MustCompile(`%[a-z]`)

func anyHoldsAll(lines, phrases []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return !slices.ContainsFunc(phrases, func(phrase string) bool { return !strings.Contains(line, phrase) })
	})
}
