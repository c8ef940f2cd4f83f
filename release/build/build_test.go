package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVersionsAreSemantic(t *testing.T) {
	for version, ok := range map[string]bool{
		"v1.2.3": true, "v0.1.0-dev": true, "v1.2.3-4-gabc-dirty": true, "1.2.3": false, "v1.2": false, "v1.2.3+meta": false, "v01.2.3": false, "latest": false, "": false,
	} {
		err := Info{Version: version}.Validate()
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "VERSION="+version+" is refused") {
			t.Errorf("%q: got %v", version, err)
		}
	}
}

func TestTheDockerfileBuildsWithThePinnedToolchainWhatTheImageHolds(t *testing.T) {
	pinned, err := toolchain(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		" golang:" + strings.TrimPrefix(pinned, "go") + " ", "CGO_ENABLED=0", "-trimpath -buildvcs=false -tags=grpcnotrace",
		"USER 65532:65532", `ENTRYPOINT ["/taint-manager"]`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the Dockerfile lacks %q", want)
		}
	}
}
