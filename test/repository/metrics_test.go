package repository

import (
	"go/ast"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// metricName matches the names of this program's metrics.
var metricName = regexp.MustCompile(`^(taint_manager|taint_eviction_controller)_[a-z_]+$`)

func TestTheDocsListTheMetricsThatThereAre(t *testing.T) {
	atRoot(t)
	text := read(t, "docs/operate.md")
	var listed []string
	for _, match := range regexp.MustCompile("`([a-z_]+)(?:{[a-z,]+})?`").FindAllStringSubmatch(text, -1) {
		if metricName.MatchString(match[1]) {
			listed = append(listed, match[1])
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(metricsOfTheCode(t), slices.Compact(listed)); diff != "" {
		t.Errorf("metrics of the code (-) and of docs/operate.md (+):\n%s", diff)
	}
}

// metricsOfTheCode returns the string literals of the program that are names of metrics.
func metricsOfTheCode(t *testing.T) (names []string) {
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok {
				return true
			}
			if value, err := strconv.Unquote(literal.Value); err == nil && metricName.MatchString(value) {
				names = append(names, value)
			}
			return true
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}
