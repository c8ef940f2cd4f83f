package krew

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/krew/pkg/constants"

	"github.com/taint-manager/taint-manager/release/build"
)

const url = "https://example.com/v1.2.3"

// made returns the manifest of two archives.
func made(t *testing.T) string {
	t.Helper()
	text, err := Manifest("v1.2.3", url, []Archive{
		{Target: build.Target{OS: "linux", Arch: "amd64"}, Name: "taint-manager_v1.2.3_linux_amd64.tar.gz", SHA256: strings.Repeat("0a", 32)},
		{Target: build.Target{OS: "windows", Arch: "amd64"}, Name: "taint-manager_v1.2.3_windows_amd64.zip", SHA256: strings.Repeat("0b", 32)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Krew's own validator of manifests is a tool of this module. It takes the plugin's name from the file's name.
func TestKrewTakesTheManifest(t *testing.T) {
	path := filepath.Join(t.TempDir(), plugin+constants.ManifestExtension)
	if err := os.WriteFile(path, []byte(made(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	validator := exec.CommandContext(t.Context(), "go", "tool", "validate-krew-manifest", "-skip-install", "-manifest", path)
	if said, err := validator.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

func TestArchivesAreDownloadedByHTTPSAlone(t *testing.T) {
	if _, err := Manifest("v1.2.3", "http://example.com", nil); err == nil || !strings.Contains(err.Error(), "URL=http://example.com is refused") {
		t.Errorf("got %v", err)
	}
}
