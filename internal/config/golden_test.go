package config_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/taint-manager/taint-manager/internal/config"
)

// files returns the Go files of this package without its tests.
func files(t *testing.T) (all []*ast.File) {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file)
	}
	return all
}

func TestTheGoldenFileHoldsEveryRefusal(t *testing.T) {
	golden, d := refusals(), config.Default()
	for _, setting := range d.Settings() {
		if _, refusable := config.Unreadable(setting.Flag, ""); refusable && !strings.Contains(golden, "\t--"+setting.Flag+"=") {
			t.Errorf("no line of the golden file refuses --%s: add a change to the list that does", setting.Flag)
		}
	}
}

func TestEachSettingHasItsFlagItsHelpAndItsField(t *testing.T) {
	c := config.Default()
	flags, fields, values := map[string]bool{}, map[string]bool{}, map[any]bool{}
	for _, s := range c.Settings() {
		if s.Usage == "" || s.Field == "" || flags[s.Flag] || values[s.Value] || fields[s.Field] {
			t.Errorf("--%s: no help or no field of the file, or a flag or field that another setting has", s.Flag)
		}
		fields[s.Field] = true
		flags[s.Flag], values[s.Value] = true, true
		if err := s.Value.Set(s.Value.String()); err != nil {
			t.Errorf("--%s: its default is refused: %v", s.Flag, err)
		}
	}
	const others = 6 // LeaderElection is one field with seven settings
	if inStruct := configurationFields(t); len(flags) != len(inStruct)+others {
		t.Errorf("%d settings of %d fields", len(flags), len(inStruct))
	}
}

// TestEachSettingSaysWhatItsZeroValueDoesAndWhatToSet checks the comments of the fields.
func TestEachSettingSaysWhatItsZeroValueDoesAndWhatToSet(t *testing.T) {
	const none, number = `\bEmpty(:| is refused)`, `\b0(:|,| is refused)`
	zero := map[string]string{
		"string": none, "Method": none, "int": number, "float32": number, "float64": number,
		"bool": `\bFalse:`, "LeaderElectionConfiguration": `\bZero .* are refused`,
	}
	advice := regexp.MustCompile(`\b(Leave|leave|Set|set|Use|choose)\b`)
	fields := 0
	for _, field := range configurationFields(t) {
		fields++
		name, doc := field.Names[0].Name, strings.Join(strings.Fields(field.Doc.Text()), " ")
		if !strings.HasPrefix(doc, name+" ") || !regexp.MustCompile(zero[typeName(field.Type)]).MatchString(doc) || !advice.MatchString(doc) {
			t.Errorf("%s: the comment lacks its meaning, its zero value or advice: %s", name, doc)
		}
	}
	if fields < 11 {
		t.Errorf("%d fields were looked at", fields)
	}
}

func configurationFields(t *testing.T) (fields []*ast.Field) {
	for _, file := range files(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == "Configuration" {
				fields = spec.Type.(*ast.StructType).Fields.List
			}
			return true
		})
	}
	return fields
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func TestATextThatIsNoNumberIsRefusedAsAWrongNumberIs(t *testing.T) {
	for flag, want := range map[string]string{
		"eviction-workers":            "it takes 1 to 1000",
		"max-slow-evictions":          "it takes 1 to 1000",
		"max-evictions-per-second":    "it takes 0 for no limit, or 0.001 to 1000000",
		"shards":                      "it takes 1 to 256",
		"kube-api-qps":                "it takes -1 or 0 for no limit, or 1 to 100000",
		"kube-api-burst":              "it takes 0 to 1000000",
		"leader-elect-lease-duration": "it takes whole seconds from 1s to 1h0m0s",
		"leader-elect-renew-deadline": "it takes less than --leader-elect-lease-duration=15s and more than 1.2 times --leader-elect-retry-period=2s",
		"leader-elect-retry-period":   "it takes 10ms or more",
	} {
		got, known := config.Unreadable(flag, "many")
		if !known || got.Flag != flag || got.Value != "many" || got.Allowed != want || got.Next == "" {
			t.Errorf("%s: got %+v, %t; want %s", flag, got, known, want)
		}
	}
	if got, known := config.Unreadable("kubeconfig", "x"); known {
		t.Errorf("a flag that takes any text: got %+v", got)
	}
}
