package repository

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

const (
	// maxWay is the maximum number of functions between a watch event and the outcome of a call.
	maxWay = 55

	// maxToInbox is the maximum number of functions between a watch event and the inbox of a shard.
	maxToInbox = 15
)

// The blocks "path" of ARCHITECTURE.md have the functions through which a datum passes, by room: from a watch event to the
// outcome of a call, and from the question of a plan to its answer. A line that begins with == stands for a handoff
// to another goroutine.
func TestTheWaysInArchitectureConsistOfFunctionsThatThereAre(t *testing.T) {
	atRoot(t)
	declared := functionsOfRooms(t)
	blocks := regexp.MustCompile("(?s)```path (\\w+)\n(.*?)```\n\n([^\n]*)").FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1)
	if len(blocks) != 2 {
		t.Fatalf("ARCHITECTURE.md has %d blocks ```path, want those of an event and of plan", len(blocks))
	}
	for _, block := range blocks {
		w := wayOf(block[2])
		for _, function := range w.functions {
			if !declared[function] {
				t.Errorf("ARCHITECTURE.md names %s, which does not exist", function)
			}
		}
		if said := fmt.Sprintf("%d functions, %d goroutine handoffs.", len(w.functions), len(w.changes)); said != block[3] {
			t.Errorf("below the way of %s stands %q, want %q", block[1], block[3], said)
		}
		if block[1] == "event" {
			w.requireShort(t)
		}
	}
}

// way is the way of a datum.
type way struct {
	functions []string // each as "room: function"
	changes   []int    // of the goroutine, before which functions
}

func wayOf(block string) (w way) {
	for line := range strings.Lines(block) {
		if strings.HasPrefix(line, "==") {
			w.changes = append(w.changes, len(w.functions))
			continue
		}
		room, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for function := range strings.SplitSeq(list, ", ") {
			w.functions = append(w.functions, room+": "+function)
		}
	}
	return w
}

func (w *way) requireShort(t *testing.T) {
	t.Helper()
	if len(w.changes) != 3 || len(w.functions) > maxWay {
		t.Fatalf("%d functions and %d changes of the goroutine, want at most %d and 3", len(w.functions), len(w.changes), maxWay)
	}
	toInbox := w.functions[:w.changes[0]]
	if len(toInbox) > maxToInbox {
		t.Errorf("%d functions lead to the inbox, want at most %d", len(toInbox), maxToInbox)
	}
	last := func(i int) string {
		return strings.ToLower(regexp.MustCompile(`\w+$`).FindString(toInbox[i]))
	}
	for i := range len(toInbox) - 2 {
		if last(i) == last(i+1) && last(i) == last(i+2) {
			t.Errorf("three functions in a row are named %s", last(i))
		}
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
