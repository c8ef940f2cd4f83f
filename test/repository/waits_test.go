package repository

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// function is what a function of a package's tests does itself; methods of one name count as one.
type function struct {
	method  bool
	waits   bool     // calls time.Sleep or time.After
	bubbles bool     // calls synctest.Test
	calls   []string // functions that it calls or passes on; methods with a dot
}

// The linter lets tests of these packages wait, as their time is virtual: so each test that waits must run in a
// bubble. Waits in methods are not found: too many of them have the same names.
func TestWhereTheLinterLetsTestsWaitTheyWaitInVirtualTime(t *testing.T) {
	atRoot(t)
	for _, dir := range virtualTime(t) {
		functions := functionsOfTests(t, dir)
		if len(functions) == 0 {
			t.Errorf(".golangci.yml lets tests wait in %s, which has none", dir)
		}
		for _, name := range slices.Sorted(maps.Keys(functions)) {
			if !regexp.MustCompile(`^(Test|Fuzz|Benchmark)`).MatchString(name) {
				continue
			}
			waits := reaches(functions, name, func(f *function) bool { return f.waits }, func(f *function) bool { return !f.method })
			if waits && !reaches(functions, name, func(f *function) bool { return f.bubbles }, func(*function) bool { return true }) {
				t.Errorf("%s: %s waits in real time: run it by synctest.Test, or wait for a condition", dir, name)
			}
		}
	}
}

// virtualTime returns the packages whose tests may wait according to the linter's configuration.
func virtualTime(t *testing.T) (dirs []string) {
	t.Helper()
	text, err := os.ReadFile(".golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)path: \^\((.*)\)/\[\^/\]\+_test\\\.go\$$`).FindSubmatch(text)
	if list == nil {
		t.Fatal(".golangci.yml has no list of packages whose tests may wait")
	}
	return strings.Split(string(list[1]), "|")
}

func functionsOfTests(t *testing.T, dir string) map[string]*function {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]*function{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				add(functions, d)
			}
		}
	}
	return functions
}

func add(functions map[string]*function, d *ast.FuncDecl) {
	name := d.Name.Name
	if d.Recv != nil {
		name = "." + name
	}
	if functions[name] == nil {
		functions[name] = &function{method: d.Recv != nil}
	}
	f := functions[name]
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				f.waits = f.waits || x.Name == "time" && (n.Sel.Name == "Sleep" || n.Sel.Name == "After")
				f.bubbles = f.bubbles || x.Name == "synctest" && n.Sel.Name == "Test"
			}
			f.calls = append(f.calls, "."+n.Sel.Name)
		case *ast.Ident:
			f.calls = append(f.calls, n.Name)
		}
		return true
	})
}

// reaches reports whether does holds for a function, or for one that it calls through functions for which through
// holds.
func reaches(functions map[string]*function, from string, does, through func(*function) bool) bool {
	seen, open := map[string]bool{from: true}, []string{from}
	for len(open) > 0 {
		f := functions[open[0]]
		open = open[1:]
		if does(f) {
			return true
		}
		for _, name := range f.calls {
			if next := functions[name]; next != nil && through(next) && !seen[name] {
				seen[name] = true
				open = append(open, name)
			}
		}
	}
	return false
}
