package repository

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A list of controllers that begins anew switches off what a distribution has added to it, such as the two controllers
// for the tokens with which nodes join. The tests' own control plane has nothing to keep.
func TestNobodyIsToldToWriteTheListOfControllersAnew(t *testing.T) {
	atRoot(t)
	files, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "*.go", "*.md", "*.yaml", "*.txt", "*.txtar", "Makefile").Output()
	if err != nil {
		t.Skipf("it needs git and a clone: %v", err)
	}
	anew := []byte("controllers=*,-taint-" + "eviction-controller")
	for name := range strings.SplitSeq(strings.Trim(string(files), "\x00"), "\x00") {
		if strings.HasPrefix(name, "test/testcluster/") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		if bytes.Contains(text, anew) {
			t.Errorf("%s writes the list of controllers anew; say to keep it and to append (docs/switching-over.md)", name)
		}
	}
}
