package dump_test

import (
	"strings"
	"testing"
)

// Whatever a file contains, reading it ends with objects or with an error.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{list, whole, "", "{", `{"items": [{"kind": 7}]}`, "items:\n- ", "---\n---", "a: &a [*a, *a]", "items:\n - x\n- y\nkind: List\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		objects, err := names(strings.NewReader(text))
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Errorf("an error without words after %d objects", len(objects))
		}
	})
}
