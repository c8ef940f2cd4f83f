package krew

import (
	"strings"
	"testing"

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

func TestKrewTakesTheManifest(t *testing.T) {
	if err := Check(t.Context(), ".", []byte(made(t))); err != nil {
		t.Error(err)
	}
}

func TestArchivesAreDownloadedByHTTPSAlone(t *testing.T) {
	if _, err := Manifest("v1.2.3", "http://example.com", nil); err == nil || !strings.Contains(err.Error(), "URL=http://example.com is refused") {
		t.Errorf("got %v", err)
	}
}

// The table holds that the check is krew's: it knows each of krew's rules, and says which one is broken.
func TestWhatKrewRejectsStopsTheRelease(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"another version of the API":  {"/v1alpha2", "/v1alpha3", "apiVersion="},
		"another kind":                {"kind: Plugin", "kind: Plugins", "kind="},
		"another name":                {"name: taint-manager", "name: taint", `should be named "taint-manager"`},
		"a name with a dot":           {"name: taint-manager", "name: taint.manager", "is not allowed"},
		"no short description":        {"  shortDescription: Foresee evictions by NoExecute taints\n", "", "short description"},
		"a short description's break": {"shortDescription: F", "shortDescription: |\n    F", "line breaks in short description"},
		"no version":                  {"  version: v1.2.3\n", "", "version"},
		"a version without v":         {"version: v1.2.3", "version: 1.2.3", "not starting with 'v'"},
		"a version with a zero":       {"version: v1.2.3", "version: v01.2.3", "plugin version"},
		"no platform":                 {"  platforms:\n", "  platforms: []\n  others:\n", "platform specified"},
		"no URI":                      {"    uri: https", "    url: https", "`uri` has to be set"},
		"no checksum":                 {"    sha256: 0", "    sha: 0", "`sha256` sum has to be set"},
		"a short checksum":            {"0a0a", "", "must match pattern"},
		"no program":                  {"- bin: taint-manager\n", "- bin: \"\"\n", "`bin` has to be set"},
		"no files":                    {"    files:\n", "    files: []\n    others:\n", "`files` has to be unspecified or non-empty"},
		"a file from nowhere":         {"- from: LICENSE", "- from: \"\"", "`from` field has to be set"},
		"a file to nowhere":           {"to: .", "to: \"\"", "`to` field has to be set"},
		"no selector":                 {"    selector:\n", "    others:\n", "nil selector"},
		"an empty selector":           {"      matchLabels:\n", "      others:\n", "empty selector"},
		"another key of a selector":   {"arch: amd64", "cpu: amd64", `"cpu" not supported`},
		"a platform that is no such":  {"os: linux", "os: plan9", "doesn't match any supported platforms"},
		"a platform twice":            {"os: windows", "os: linux", "overlapping selectors"},
	} {
		t.Run(name, func(t *testing.T) {
			text := made(t)
			broken := strings.Replace(text, c.from, c.to, 1)
			if broken == text {
				t.Fatalf("there is no %q in\n%s", c.from, text)
			}
			if err := Check(t.Context(), ".", []byte(broken)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
