package krew

import (
	"strings"
	"testing"

	"github.com/taint-manager/taint-manager/release/build"
)

var archives = []Archive{{Target: build.Target{OS: "linux", Arch: "amd64"}, Name: "taint-manager_v1.2.3_linux_amd64.tar.gz", SHA256: strings.Repeat("0a", 32)}}

func TestTheManifestFitsTheSchema(t *testing.T) {
	if _, err := Manifest("v1.2.3", "https://example.com/v1.2.3", archives); err != nil {
		t.Error(err)
	}
}

func TestWhatKrewWouldRefuseIsRefused(t *testing.T) {
	for name, damage := range map[string]func(string) string{
		"a version without v": func(s string) string { return strings.Replace(s, "version: v1.2.3", "version: 1.2.3", 1) },
		"a short checksum":    func(s string) string { return strings.Replace(s, "0a0a", "", 1) },
		"an unknown field":    func(s string) string { return strings.Replace(s, "caveats:", "caveat:", 1) },
		"another system":      func(s string) string { return strings.Replace(s, "os: linux", "os: plan9", 1) },
		"a download by HTTP":  func(s string) string { return strings.Replace(s, "uri: https://", "uri: http://", 1) },
		"a capital in a name": func(s string) string { return strings.Replace(s, "name: taint-manager", "name: Taint", 1) },
		"no platform":         func(s string) string { before, _, _ := strings.Cut(s, "  platforms:"); return before },
		"another kind":        func(s string) string { return strings.Replace(s, "kind: Plugin", "kind: Plugins", 1) },
		"no short description": func(s string) string {
			return strings.Replace(s, "  shortDescription: Foresee evictions by NoExecute taints\n", "", 1)
		},
	} {
		text, err := Manifest("v1.2.3", "https://example.com/v1.2.3", archives)
		if err != nil {
			t.Fatal(err)
		}
		broken := damage(string(text))
		if broken == string(text) {
			t.Fatalf("%s: nothing is broken in\n%s", name, text)
		}
		if err := Check([]byte(broken)); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}
