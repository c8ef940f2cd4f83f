package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestAnotherGoThanThePinnedOneIsRefused(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module m\n\ntoolchain go1.2.3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := run([]string{"-root", root, "-version", "v1.2.3", "-commit", "0123", "-time", "1767312245"})
	if err == nil {
		t.Fatal("it is not refused")
	}
	for _, want := range []string{"runs with " + runtime.Version(), "go.mod pins go1.2.3", "make image", "GOTOOLCHAIN=go1.2.3"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, which lacks %q", err, want)
		}
	}
}
