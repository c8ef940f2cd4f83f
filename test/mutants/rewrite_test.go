package main

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"testing"
)

// An expression, what it is, and what each of its mutants is.
func TestEachOperatorIsBroken(t *testing.T) {
	for expression, want := range map[string]string{
		"1 == 1": "true, -> != false",
		"1 != 1": "false, -> == true",
		"1 < 1":  "false, -> <= true, -> >= true",
		"1 < 2":  "true, -> <= true, -> >= false",
		"2 < 1":  "false, -> <= false, -> >= true",
		"1 <= 1": "true, -> < false, -> > false",
		"1 <= 2": "true, -> < true, -> > false",
		"2 <= 1": "false, -> < false, -> > true",
		"1 > 1":  "false, -> >= true, -> <= true",
		"1 > 2":  "false, -> >= false, -> <= true",
		"2 > 1":  "true, -> >= true, -> <= false",
		"1 >= 1": "true, -> > false, -> < false",
		"1 >= 2": "false, -> > false, -> < true",
		"2 >= 1": "true, -> > true, -> < false",

		"true && false": "false, -> || true",
		"true || false": "true, -> && false",
		// An operand stays whole when an operator of higher precedence is next to it.
		"true || true && false": "true, -> && false, true && false -> || true",
		"true || false || true": "true, -> && true, true || false -> && true",
		"false && 1 > 2":        "false, -> || false, 1 > 2 -> >= false, 1 > 2 -> <= false",
		"!(1 == 1 || 2 < 1)":    "false, 1 == 1 || 2 < 1 -> && true, 1 == 1 -> != true, 2 < 1 -> <= false, 2 < 1 -> >= false",
		"1 + 1":                 "2",
	} {
		text, mutants, err := rewrite("p.go", "package p\nvar v = "+expression, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, rewritten, _ := strings.Cut(text, " v = ")
		got := []string{value(t, rewritten, 0)}
		for i, m := range mutants {
			name := strings.TrimPrefix(m.String(), "p.go: ")
			got = append(got, strings.TrimPrefix(name, expression+" ")+" "+value(t, rewritten, i+1))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s is %s, want %s", expression, strings.Join(got, ", "), want)
		}
	}
}

// value returns the value of an expression of which one mutant is chosen.
func value(t *testing.T, expression string, mutant int) string {
	t.Helper()
	got, err := types.Eval(token.NewFileSet(), nil, token.NoPos, strings.ReplaceAll(expression, chosen, fmt.Sprint(mutant)))
	if err != nil {
		t.Fatal(err)
	}
	return got.Value.String()
}

func TestAllButConstantsIsBroken(t *testing.T) {
	const text = `// About p.
package p

const one = 1 == 1

func f(a, b int) bool {
	const two = 2 > 1
	for i := 0; i < b; i++ { // up to b
		switch {
		case func() bool { return a == i }():
			return one || two
		}
	}
	return struct{ a int }{a} == struct{ a int }{b}
}
`
	rewritten, mutants, err := rewrite("p.go", text, []mutant{{}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants[1:] {
		got = append(got, fmt.Sprint(m.line, " ", m.code, " ", m.becomes))
	}
	want := []string{
		"8 i < b <=", "8 i < b >=", "10 a == i !=", "11 one || two &&",
		"14 struct{ a int }{a} == struct{ a int }{b} !=",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	start := "// About p.\npackage p\n\nconst one = 1 == 1\n\nfunc f(a, b int) bool {\n\tconst two = 2 > 1\n\tfor i := 0; (mutant__ == 2 && "
	if !strings.HasPrefix(rewritten, start) {
		t.Errorf("got %s", rewritten)
	}
}

func TestANameThatClashesIsRefused(t *testing.T) {
	if _, _, err := rewrite("p.go", "package p\nvar mutant__ = 1 == 1", nil); err == nil {
		t.Error("no error")
	}
}
