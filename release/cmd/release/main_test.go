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

func TestWithoutVersionAndNameTheImageIsThatOfInstallYAML(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, "deploy", "install.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var version, repository string
	if err := complete(root, &version, &repository); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n        image: "+repository+":"+version+"\n") {
		t.Errorf("deploy/install.yaml does not install %s:%s", repository, version)
	}
	version, repository = "v9.8.7", "registry.example.com/a"
	if err := complete(root, &version, &repository); err != nil || version != "v9.8.7" || repository != "registry.example.com/a" {
		t.Errorf("a name that is given is replaced by %s:%s, %v", repository, version, err)
	}
}
