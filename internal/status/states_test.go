package status_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/taint-manager/taint-manager/eviction"
)

// The page has the states of package eviction, and one of its own for past evictions.
func TestThePageHasTheStatesOfPackageEviction(t *testing.T) {
	script, err := os.ReadFile("page/states.js")
	must(t, err)
	style, err := os.ReadFile("page/style.css")
	must(t, err)
	all, meanings := []string{"evicted"}, "export const meanings = {\n"
	for _, state := range eviction.States() {
		key := string(state)
		if strings.Contains(key, "-") {
			key = "'" + key + "'"
		}
		all = append(all, string(state))
		meanings += fmt.Sprintf("  %s: '%s',\n", key, state.Meaning())
		if shape := "\n  " + key + ": { full: "; !strings.Contains(string(script), shape) {
			t.Errorf("states.js has no shape of %s", state)
		}
		if colour := fmt.Sprintf(".s-%s { color: var(--%s); }", state, state); !strings.Contains(string(style), colour) {
			t.Errorf("style.css has no %q", colour)
		}
	}
	if meanings += "  evicted: "; !strings.Contains(string(script), meanings) {
		t.Errorf("states.js does not have:\n%s", meanings)
	}
	order := regexp.MustCompile(`export const states = \['(.*)'\];`).FindSubmatch(script)
	if order == nil {
		t.Fatal("states.js has no order of states")
	}
	ordered := strings.Split(string(order[1]), "', '")
	if slices.Sort(ordered); !slices.Equal(ordered, slices.Sorted(slices.Values(all))) {
		t.Errorf("states.js orders %q, want %q", ordered, all)
	}
}
