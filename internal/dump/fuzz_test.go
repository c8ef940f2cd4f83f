package dump_test

import (
	"runtime"
	"strings"
	"testing"
)

// mostGrowth is by how many bytes the memory of the process may grow while a file or a tree is read: what a zip archive,
// the windows of decompressors and items without a kind may hold, and one object.
const mostGrowth = 1 << 30

// growth returns by how much f makes the largest amount of memory grow that the process has had.
func growth(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Sys - min(before.Sys, after.Sys)
}

// Whatever a file contains, reading it ends with objects or with an error, in bounded memory.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{list, whole, "", "{", `{"items": [{"kind": 7}]}`, "items:\n- ", "---\n---", "a: &a [*a, *a]", "items:\n - x\n- y\nkind: List\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var objects []string
		var err error
		grown := growth(func() { objects, err = names(strings.NewReader(text)) })
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Errorf("an error without words after %d objects", len(objects))
		}
		if grown > mostGrowth {
			t.Errorf("the memory grows by %d MiB", grown>>20)
		}
	})
}
