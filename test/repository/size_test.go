package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A package that calls methods by name, such as text/template, makes the linker keep all exported methods: 26 MB more.
func TestTheBinaryIsBelow50MB(t *testing.T) {
	atRoot(t)
	binary := filepath.Join(t.TempDir(), "taint-manager")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", binary, "./cmd/taint-manager")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if mb := float64(info.Size()) / 1e6; mb > 50 {
		t.Errorf("the binary has %.0f MB", mb)
	}
}
