package repository

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tree returns all files except those that are built, installed or recorded.
func tree(t *testing.T) (names []string) {
	t.Helper()
	skipped := []string{"bin", "dist", "node_modules", "testdata"}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case name != "." && (entry.Name()[0] == '.' || slices.Contains(skipped, entry.Name())):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case !entry.IsDir():
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// prose returns the comments of Go files, scripts and style sheets, and whole documents, by file.
func prose(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, name := range tree(t) {
		switch path.Ext(name) {
		case ".go":
			texts[name] = goComments(t, name)
		case ".md":
			texts[name] = read(t, name)
			if name == "CHANGELOG.md" { // it quotes what was replaced
				texts[name] = regexp.MustCompile("`[^`]*`").ReplaceAllString(texts[name], "")
			}
		case ".js", ".css":
			texts[name] = strings.Join(regexp.MustCompile(`(?s)/\*.*?\*/|(?m-s://.*$)`).FindAllString(read(t, name), -1), "\n;\n")
		}
	}
	return texts
}

func goComments(t *testing.T, name string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, group := range file.Comments {
		text.WriteString(group.Text() + "\n;\n")
	}
	return text.String()
}

func receiverType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverType(e.X)
	case *ast.IndexExpr:
		return receiverType(e.X)
	case *ast.IndexListExpr:
		return receiverType(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
