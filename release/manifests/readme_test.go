package manifests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheReadmeOfTheChartHasEachValueWithDefaultAndComment(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, ChartDir)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	const values = `# How many.
# One leads.
replicas: 2

image:
  # Where | from.
  repository: "" # its registry
  pull: {policy: Always}
# All of it.
budget:
  enabled: true
list:
- {key: a, seconds: 30}
- key: b
`
	if err := os.WriteFile(filepath.Join(folder, "values.yaml"), []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readme(root)
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(got, "|---|---|---|\n")
	const want = "| `replicas` | `2` | How many. One leads. |\n" +
		"| `image.repository` | `\"\"` | Where \\| from. |\n" +
		"| `image.pull` | `{policy: Always}` |  |\n" +
		"| `budget` | | All of it. |\n" +
		"| `budget.enabled` | `true` |  |\n" +
		"| `list` | `[{key: a, seconds: 30}, {key: b}]` |  |\n"
	if rows != want {
		t.Errorf("got\n%s\nwant\n%s", rows, want)
	}
}
