package build

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..")

func TestVersionsAreSemantic(t *testing.T) {
	for version, ok := range map[string]bool{
		"v1.2.3": true, "v1.0.0-dev": true, "v1.2.3-4-gabc-dirty": true, "1.2.3": false, "v1.2": false, "v1.2.3+meta": false, "v01.2.3": false, "latest": false, "": false,
	} {
		err := Info{Version: version}.Validate()
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "VERSION="+version+" is refused") {
			t.Errorf("%q: got %v", version, err)
		}
	}
}

func TestMakeReleasesWithThePinnedGo(t *testing.T) {
	pinned, err := toolchain(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"image", "release", "test-release"} {
		dry := exec.CommandContext(t.Context(), "make", "--dry-run", "--silent", target)
		dry.Dir = root
		said, err := dry.Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(said), "cd release && GOTOOLCHAIN="+pinned+" go ") {
			t.Errorf("make %s would run\n%s", target, said)
		}
	}
}
