package cli_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/cli"
	"github.com/taint-manager/taint-manager/eviction"
)

// TestTheReferenceIsMadeFromTheCode holds docs/reference equal to the help, the flags and the comments of the structs
// that become JSON.
func TestTheReferenceIsMadeFromTheCode(t *testing.T) {
	answers := parseStructs(t, filepath.Join("..", "internal", "foresight"))
	for command, kind := range map[string]string{"plan": "Plan", "explain": "Explanation", "pending": "Pending"} {
		cmd, _, err := cli.NewCommand().Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		help := must(exec.CommandContext(t.Context(), "taint-manager", command, "--help").Output())
		compareReference(t, command, referencePage(cmd, string(help), kind, answers))
	}
}

// TestTheReferenceOfThePagesJSONIsMadeFromTheCode holds docs/reference/api.md equal to the comments of the structs that
// the manager answers with.
func TestTheReferenceOfThePagesJSONIsMadeFromTheCode(t *testing.T) {
	var page strings.Builder
	page.WriteString("# The fields of the page's JSON\n\nThis page is made from the code by `make golden`. " +
		"[api.md](../api.md) says how to ask, and [api-examples.md](api-examples.md) has examples. Times are in UTC, " +
		"to the millisecond, by the clock of the process that answers. An optional field is left out where it is empty.\n")
	parseStructs(t, filepath.Join("..", "internal", "status")).
		write(&page, "Snapshot", "Changes", "EvictionList", "NodeList", "Error")
	compareReference(t, "api", page.String())
}

const (
	statesIntro = "# The states of an eviction\n\nThis page is made from the code by `make golden`. The status page, its " +
		"[JSON](api.md), [pending](pending.md) and the label `state` of [metrics](metrics.md) have these words.\n\n" +
		"| state | meaning |\n|---|---|\n"
	waitsIntro = "\n`blocked`, `refused` and `delayed` evictions are retried, and keep their state until a call has another " +
		"[outcome](outcomes.md), or until their deadline moves into the future.\n\n" +
		"In metrics, each eviction has exactly one state, and a call in flight does not change it: otherwise each retry would " +
		"reset the alerts. So metrics have no state `in-flight`; `taint_manager_evictions_in_flight` counts the calls.\n\n" +
		"## Why an eviction waits\n\nThe label `waits_for` of metrics says why a `due` eviction waits. The status page, " +
		"`waitsFor` in the JSON, and `pending --server` say it in words. It is empty during the backoff after a failed call. " +
		"During a pause, metrics have `pause` for all `due` and `delayed` evictions.\n\n" +
		"| `waits_for` | in words | meaning |\n|---|---|---|\n"
)

// TestTheReferenceOfStatesIsMadeFromTheCode holds docs/reference/states.md equal to package eviction.
func TestTheReferenceOfStatesIsMadeFromTheCode(t *testing.T) {
	var page strings.Builder
	page.WriteString(statesIntro)
	for _, state := range eviction.States() {
		fmt.Fprintf(&page, "| `%s` | %s |\n", state, state.Meaning())
	}
	page.WriteString(waitsIntro)
	for _, cause := range eviction.WaitCauses() {
		wait := eviction.Wait{Cause: cause, Rate: "cluster", Namespace: "shop", Calls: 32}
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", cause, wait, cause.Meaning())
	}
	compareReference(t, "states", page.String())
}

// compareReference holds a page of docs/reference equal to what the code makes of it.
func compareReference(t *testing.T, name, page string) {
	t.Helper()
	path := filepath.Join("..", "docs", "reference", name+".md")
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	written := must(os.ReadFile(path))
	if diff := cmp.Diff(string(written), page); diff != "" {
		t.Errorf("%s is not current; run `make golden`:\n%s", path, diff)
	}
}

func referencePage(cmd *cobra.Command, help, kind string, answers structs) string {
	intro, usage, _ := strings.Cut(help, "\nUsage:\n")
	usage, _, _ = strings.Cut(usage, "\n\nExit codes:")
	usage, examples, _ := strings.Cut(usage, "\n\nExamples:\n")
	var page strings.Builder
	fmt.Fprintf(&page, "# taint-manager %s\n\nThis page is made from the code by `make golden`; "+
		"[look-ahead.md](../look-ahead.md) is a tutorial.\n\n%s\n```sh\n%s\n```\n\nExamples:\n\n```sh\n%s\n```\n",
		cmd.Name(), intro, unindented(usage), unindented(examples))
	page.WriteString("\n## Flags\n\n| flag | default | |\n|---|---|---|\n")
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			page.WriteString(flagRow(f))
		}
	})
	fmt.Fprintf(&page, "\n## JSON\n\n`-o json` and `-o yaml` print a document of kind [%s](#%s). Times are in UTC, in RFC 3339. "+
		"An optional field is left out where it is empty.\n", kind, strings.ToLower(kind))
	answers.write(&page, kind)
	return page.String()
}

// unindented returns lines without the spaces that the help puts before them.
func unindented(lines string) string {
	return strings.TrimSpace(strings.ReplaceAll("\n"+lines, "\n  ", "\n"))
}

func flagRow(f *pflag.Flag) string {
	name, text := pflag.UnquoteUsage(f)
	long := "`--" + strings.TrimSpace(f.Name+" "+strings.TrimPrefix(name, "[")) + "`"
	if f.Shorthand != "" {
		long = "`-" + f.Shorthand + "`, " + long
	}
	value := f.DefValue
	if value == "[]" || value == "false" {
		value = ""
	}
	return "| " + long + " | " + value + " | " + cell(text) + " |\n"
}

// cell makes a text fit a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// structs are the structs of a package, by name.
type structs map[string]described

type described struct {
	*ast.StructType
	doc string
}

func parseStructs(t *testing.T, dir string) structs {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files in %s, %v", len(files), dir, err)
	}
	all := structs{}
	for _, file := range files {
		parsed := must(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments))
		for _, declared := range parsed.Decls {
			if d, ok := declared.(*ast.GenDecl); ok && len(d.Specs) == 1 {
				all.add(d)
			}
		}
	}
	return all
}

func (s structs) add(d *ast.GenDecl) {
	if spec, ok := d.Specs[0].(*ast.TypeSpec); ok {
		if fields, ok := spec.Type.(*ast.StructType); ok {
			s[spec.Name.Name] = described{fields, cell(d.Doc.Text())}
		}
	}
}

// write writes a section for each struct of these names, and for each struct that they have.
func (s structs) write(page *strings.Builder, names ...string) {
	written := map[string]bool{}
	for queue := names; len(queue) > 0; queue = queue[1:] {
		if of := queue[0]; !written[of] {
			written[of] = true
			fmt.Fprintf(page, "\n### %s\n\n%s\n\n| field | type | |\n|---|---|---|\n", of, s[of].doc)
			for _, field := range s[of].Fields.List {
				queue = append(queue, s.writeField(page, field)...)
			}
		}
	}
}

// writeField writes the row of a field, and returns the structs that it refers to.
func (s structs) writeField(page *strings.Builder, field *ast.Field) []string {
	of, list := elementType(field.Type)
	key, options, inJSON := strings.Cut(jsonTag(field), ",")
	var refers []string
	kind := map[string]string{"Time": "time", "UID": "string", "int64": "integer", "int": "integer", "float64": "number", "bool": "boolean", "State": "[state](states.md)"}[of]
	switch {
	case s[of].StructType != nil:
		kind, refers = "["+of+"](#"+strings.ToLower(of)+")", []string{of}
	case kind == "":
		kind = of
	}
	if key == "-" || key == "" && len(field.Names) > 0 {
		return nil
	}
	if key == "" {
		fmt.Fprintf(page, "| | | and the fields of %s |\n", kind)
		return refers
	}
	if list {
		kind = "list of " + kind
	}
	if inJSON && strings.Contains(options, "omit") {
		kind += ", optional"
	}
	fmt.Fprintf(page, "| `%s` | %s | %s |\n", key, kind, strings.TrimSpace(cell(field.Doc.Text())+" "+cell(field.Comment.Text())))
	return refers
}

func jsonTag(field *ast.Field) string {
	if field.Tag == nil {
		return ""
	}
	tag, _ := strconv.Unquote(field.Tag.Value)
	return reflect.StructTag(tag).Get("json")
}

// elementType returns the name of a type without pointers, and of the elements of a list.
func elementType(e ast.Expr) (name string, list bool) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return elementType(e.X)
	case *ast.ArrayType:
		name, _ = elementType(e.Elt)
		return name, true
	case *ast.SelectorExpr:
		return e.Sel.Name, false
	case *ast.Ident:
		return e.Name, false
	case *ast.MapType:
		name, list = elementType(e.Value)
		return "map of " + name, list
	}
	panic(fmt.Sprintf("a field of type %T", e))
}
