package repository

import (
	"go/ast"
	"strings"
	"testing"
)

// A receiver abbreviates its type: it begins with the type's initial, and has only letters of the type, in their order.
func TestReceiversAbbreviateTheirTypes(t *testing.T) {
	atRoot(t)
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
				continue
			}
			receiver, typ := f.Recv.List[0].Names[0].Name, receiverType(f.Recv.List[0].Type)
			if receiver != "_" && !abbreviates(receiver, strings.ToLower(typ)) {
				t.Errorf("%s: the receiver %s of %s.%s does not abbreviate its type", s.path, receiver, typ, f.Name.Name)
			}
		}
	}
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

// abbreviates reports whether a word has the initial of another, and letters of it in their order.
func abbreviates(short, word string) bool {
	if word == "" || short[0] != word[0] {
		return false
	}
	for _, letter := range short {
		_, rest, found := strings.Cut(word, string(letter))
		if !found {
			return false
		}
		word = rest
	}
	return true
}
