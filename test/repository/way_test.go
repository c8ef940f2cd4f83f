package repository

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	// maxWay is the maximum number of functions between a watch event and the outcome of a call.
	maxWay = 56

	// maxToInbox is the maximum number of functions between a watch event and the inbox of a shard.
	maxToInbox = 15
)

// The block "way" of ARCHITECTURE.md has the functions between a watch event and the outcome of a call, by room. A line
// that begins with == stands for a change of the goroutine.
func TestTheWayOfADatumInArchitectureConsistsOfFunctionsThatThereAre(t *testing.T) {
	atRoot(t)
	block := regexp.MustCompile("(?s)```way\n(.*?)```").FindStringSubmatch(read(t, "ARCHITECTURE.md"))
	if block == nil {
		t.Fatal("ARCHITECTURE.md has no block ```way")
	}
	declared := functionsOfRooms(t)
	changes, length, names := 0, 0, []string{"", "", ""}
	for line := range strings.Lines(block[1]) {
		if strings.HasPrefix(line, "==") {
			if changes++; changes == 1 && length > maxToInbox {
				t.Errorf("%d functions lead to the inbox, want at most %d", length, maxToInbox)
			}
			continue
		}
		room, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for function := range strings.SplitSeq(list, ", ") {
			length++
			last := strings.ToLower(function[strings.Index(function, ".")+1:])
			if names = append(names[1:], last); changes == 0 && len(slices.Compact(slices.Clone(names))) == 1 {
				t.Errorf("three functions in a row are named %s", last)
			}
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
	return receiverType(d.Recv.List[0].Type) + "."
}
