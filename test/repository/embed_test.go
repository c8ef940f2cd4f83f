package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// library are the packages that docs/versions.md promises.
var library = []string{"", "/eviction", "/leader", "/policy", "/taint"}

// A program in another module can't import internal packages, so what it needs must be in the library.
func TestAProgramInAnotherModuleBuildsAgainstTheLibraryAlone(t *testing.T) {
	atRoot(t)
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{
		"main.go": read(t, filepath.Join("test", "repository", "testdata", "embedder", "main.go")),
		"go.mod":  "module example.com/embedder\n\ngo 1.26\n\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n",
		"go.sum":  read(t, "go.sum"),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, pkg := range library {
		if !strings.Contains(files["main.go"], `"`+module+pkg+`"`) {
			t.Errorf("the program does not import %s", module+pkg)
		}
	}
	// The build may read go.mod files that no other build has downloaded.
	if out, err := exec.CommandContext(t.Context(), "go", "mod", "download").CombinedOutput(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", os.DevNull, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("go build: %v\n%s", err, out)
	}
}
