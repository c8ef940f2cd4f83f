package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// chosen is a variable of each rewritten package: the number of the mutant that runs, or 0.
const chosen = "mutant__"

// chooser is a file of each rewritten package. Its imports have names that clash with none.
const chooser = `package %s

import (
	os__ "os"
	strconv__ "strconv"
)

var ` + chosen + ` = func() int { n, _ := strconv__.Atoi(os__.Getenv("MUTANT")); return n }()
`

// A mutant is a package in which another operator is in the place of one.
type mutant struct {
	file    string
	line    int
	code    string
	becomes token.Token
}

func (m mutant) String() string { return fmt.Sprintf("%s: %s -> %s", m.file, m.code, m.becomes) }

// become returns the operators that take the place of another, one at a time.
func become(op token.Token) []token.Token {
	return map[token.Token][]token.Token{
		token.EQL: {token.NEQ}, token.NEQ: {token.EQL}, token.LAND: {token.LOR}, token.LOR: {token.LAND},
		token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
		token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	}[op]
}

// A source is a Go file that is rewritten. Its mutants are numbered after those of the files before it.
type source struct {
	name    string
	text    string
	set     *token.FileSet
	mutants []mutant
}

// rewrite returns a file with all its mutants, and appends them to the mutants of the files before it.
func rewrite(name, text string, before []mutant) (string, []mutant, error) {
	s := &source{name: name, text: text, set: token.NewFileSet(), mutants: before}
	tree, err := parser.ParseFile(s.set, name, text, 0)
	if err != nil {
		return "", nil, err
	}
	if strings.Contains(text, chosen) {
		return "", nil, fmt.Errorf("%s uses the name %s", name, chosen)
	}
	return s.original(tree.FileStart, tree.Pos()) + s.rewritten(tree), s.mutants, nil
}

func (s *source) original(from, to token.Pos) string {
	return s.text[s.set.Position(from).Offset:s.set.Position(to).Offset]
}

// rewritten returns the text of a node. Constants stay, because no variable can choose their values.
func (s *source) rewritten(n ast.Node) string {
	var out strings.Builder
	done := n.Pos()
	ast.Inspect(n, func(child ast.Node) bool {
		if d, ok := child.(*ast.GenDecl); ok && d.Tok == token.CONST {
			return false
		}
		b, ok := child.(*ast.BinaryExpr)
		if !ok || become(b.Op) == nil {
			return true
		}
		out.WriteString(s.original(done, b.Pos()) + s.choice(b))
		done = b.End()
		return false
	})
	return out.String() + s.original(done, n.End())
}

// choice returns an expression that is b with the operator of the mutant that is chosen. It evaluates each operand as
// often as b, and has the type of b.
func (s *source) choice(b *ast.BinaryExpr) string {
	broken, whole := "", ""
	left, right := s.original(b.X.Pos(), b.X.End()), s.original(b.Y.Pos(), b.Y.End())
	for _, op := range become(b.Op) {
		code := strings.Join(strings.Fields(s.original(b.Pos(), b.End())), " ")
		s.mutants = append(s.mutants, mutant{s.name, s.set.Position(b.OpPos).Line, code, op})
		broken += fmt.Sprintf("%s == %d && ((%s) %s (%s)) || ", chosen, len(s.mutants), left, op, right)
		whole += fmt.Sprintf("%s != %d && ", chosen, len(s.mutants))
	}
	return fmt.Sprintf("(%s%s((%s) %s (%s)))", broken, whole, s.rewritten(b.X), b.Op, s.rewritten(b.Y))
}
