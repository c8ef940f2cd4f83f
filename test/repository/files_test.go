package repository

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
