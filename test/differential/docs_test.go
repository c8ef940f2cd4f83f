package differential

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestTheDocsListEveryCorrectionWithItsRule(t *testing.T) {
	listed := read(t, "../../docs/lab/differential.md")
	semantics := read(t, "../../docs/semantics.md")
	for _, c := range corrections() {
		row := fmt.Sprintf("| %s | %s: %s | %s |\n", c.name, c.section, c.rule, c.original)
		if !strings.Contains(listed, row) {
			t.Errorf("docs/lab/differential.md has no row\n%s", row)
		}
		if !strings.Contains(semantics, "\n## "+c.section+"\n") {
			t.Errorf("docs/semantics.md has no section %q, which is to hold the rule of the correction %q", c.section, c.name)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
