package repository

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// maxWay is how many functions a datum may pass through from the watch event to the outcome of the call.
const maxWay = 55

// The block "way" of ARCHITECTURE.md has the functions between a watch event and the outcome of a call, by room. A line
// that begins with == stands for a change of the goroutine.
func TestTheWayOfADatumInArchitectureConsistsOfFunctionsThatThereAre(t *testing.T) {
	atRoot(t)
	block := regexp.MustCompile("(?s)```way\n(.*?)```").FindStringSubmatch(read(t, "ARCHITECTURE.md"))
	if block == nil {
		t.Fatal("ARCHITECTURE.md has no block ```way")
	}
	declared := functionsOfRooms(t)
	changes, length := 0, 0
	for line := range strings.Lines(block[1]) {
		if strings.HasPrefix(line, "==") {
			changes++
			continue
		}
		room, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for function := range strings.SplitSeq(list, ", ") {
			length++
			if !declared[room+": "+function] {
				t.Errorf("ARCHITECTURE.md names %s of room %s, which does not exist", function, room)
			}
		}
	}
	if changes != 3 || length > maxWay {
		t.Errorf("the way of a datum has %d functions and %d changes of the goroutine, want at most %d and 3", length, changes, maxWay)
	}
}

// functionsOfRooms returns all functions and methods, as "room: function" and "room: type.method".
func functionsOfRooms(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				declared[name(s.dir())+": "+receiver(d)+d.Name.Name] = true
			}
		}
	}
	return declared
}

// receiver returns the type of a method's receiver with a dot; "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if ident, ok := of.(*ast.Ident); ok {
		return ident.Name + "."
	}
	return ""
}
