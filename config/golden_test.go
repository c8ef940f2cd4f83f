package config_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/taint-manager/taint-manager/config"
)

// files are the Go files of this package but tests.
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

// TestTheGoldenFileHoldsEveryRefusal finds each call of refuse in the source, and wants all its words
// in one line of the file.
func TestTheGoldenFileHoldsEveryRefusal(t *testing.T) {
	lines, calls := strings.Split(refusals(), "\n"), 0
	for _, file := range files(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isIdent(call.Fun, "refuse") {
				calls++
				wantLine(t, lines, phrases(t, call))
			}
			return true
		})
	}
	if calls == 0 {
		t.Error("there is no call of refuse")
	}
}

func isIdent(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

var verbs = regexp.MustCompile(`%[a-z]`)

// phrases are the constant parts of the texts in the call.
func phrases(t *testing.T, call *ast.CallExpr) (all []string) {
	ast.Inspect(call, func(n ast.Node) bool {
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
	return all
}

func wantLine(t *testing.T, lines, phrases []string) {
	t.Helper()
	for _, line := range lines {
		if holdsAll(line, phrases) {
			return
		}
	}
	t.Errorf("no line of the golden file holds all of %q: add a change to the list that brings it about", phrases)
}

func holdsAll(line string, phrases []string) bool {
	for _, phrase := range phrases {
		if !strings.Contains(line, phrase) {
			return false
		}
	}
	return true
}

// TestEachSettingSaysWhatItsZeroValueDoesAndWhatToSet holds the comments of the fields to that.
func TestEachSettingSaysWhatItsZeroValueDoesAndWhatToSet(t *testing.T) {
	const none, number = `\bEmpty(:| is refused)`, `\b0(:|,| is refused)`
	zero := map[string]string{
		"string": none, "int": number, "float32": number, "float64": number,
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
