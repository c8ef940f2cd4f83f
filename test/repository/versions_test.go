package repository

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// usual is the module of the version of Kubernetes that `make test` runs; the others are in versionsDir.
const (
	usual       = "test/controlplane/go.mod"
	versionsDir = "test/controlplane/versions"
)

// versionsOf returns the versions of Kubernetes and of etcd in a module of the control plane, without the "v".
func versionsOf(t *testing.T, file string) (kubernetes, etcd string) {
	t.Helper()
	text := read(t, file)
	find := func(pattern string) string {
		match := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if match == nil {
			t.Fatalf("%s does not match %q", file, pattern)
		}
		return match[1]
	}
	return find(`(?m)^\tk8s\.io/kubernetes v(1\.\d+\.\d+)$`), find(`(?m)^\tgo\.etcd\.io/etcd/server/v3 v(3\.\d+\.\d+)$`)
}

// versionModules returns the modules of the other versions, by minor version.
func versionModules(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(versionsDir + "/*/go.mod")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no modules: %v", versionsDir, err)
	}
	modules := map[string]string{}
	for _, file := range files {
		modules[path.Base(filepath.ToSlash(filepath.Dir(file)))] = file
	}
	return modules
}

func minorOf(version string) string { return version[:strings.LastIndex(version, ".")] }

func TestAModuleOfTheControlPlaneIsOfOneVersion(t *testing.T) {
	atRoot(t)
	replaced := regexp.MustCompile(`(?m)^\tk8s\.io/([a-z-]+) => k8s\.io/([a-z-]+) v0\.(\S+)$`)
	modules := versionModules(t)
	kubernetes, _ := versionsOf(t, usual)
	modules[minorOf(kubernetes)] = usual
	for minor, file := range modules {
		kubernetes, _ := versionsOf(t, file)
		if minorOf(kubernetes) != minor {
			t.Errorf("%s has Kubernetes %s", file, kubernetes)
		}
		all := replaced.FindAllStringSubmatch(read(t, file), -1)
		if len(all) < 20 {
			t.Errorf("%s replaces %d staging modules only", file, len(all))
		}
		for _, match := range all {
			if match[1] != match[2] || "1."+match[3] != kubernetes {
				t.Errorf("%s has Kubernetes %s and replaces:\n%s", file, kubernetes, match[0])
			}
		}
		if _, err := os.Stat(strings.TrimSuffix(file, ".mod") + ".sum"); err != nil {
			t.Error(err)
		}
	}
}

func TestTheMakefileTestsTheVersionsThatHaveModules(t *testing.T) {
	atRoot(t)
	match := regexp.MustCompile(`(?m)^KUBERNETES \?= (.*)$`).FindStringSubmatch(read(t, "Makefile"))
	if match == nil {
		t.Fatal("the Makefile does not set KUBERNETES")
	}
	tested := strings.Fields(match[1])
	slices.Sort(tested)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(versionModules(t))), tested); diff != "" {
		t.Errorf("%s (-) and KUBERNETES in the Makefile (+):\n%s", versionsDir, diff)
	}
	kubernetes, _ := versionsOf(t, usual)
	if want := "const defaultMinor = " + strings.TrimPrefix(minorOf(kubernetes), "1.") + "\n"; !strings.Contains(read(t, "test/testcluster/files.go"), want) {
		t.Errorf("test/testcluster/files.go does not have %q", want)
	}
}

// run is what a row of docs/versions.md says of one version: its etcd, and the command that runs it.
type run struct{ etcd, by string }

func TestTheDocsListTheVersionsThatAreRun(t *testing.T) {
	atRoot(t)
	kubernetes, etcd := versionsOf(t, usual)
	want := map[string]run{kubernetes: {etcd, "make test"}}
	for _, file := range versionModules(t) {
		kubernetes, etcd := versionsOf(t, file)
		want[kubernetes] = run{etcd, "make test-versions"}
	}
	text := read(t, "docs/versions.md")
	listed := map[string]run{}
	for _, row := range regexp.MustCompile("(?m)^\\| (1\\.\\d+\\.\\d+) \\| (3\\.\\d+\\.\\d+) \\| `([a-z -]+)` \\| .*(?:[1-9]\\d* passed|each change|not built|not run).* \\|$").FindAllStringSubmatch(text, -1) {
		listed[row[1]] = run{row[2], row[3]}
	}
	if diff := cmp.Diff(want, listed, cmp.AllowUnexported(run{})); diff != "" {
		t.Errorf("the modules (-) and the rows of docs/versions.md (+):\n%s", diff)
	}
	original := regexp.MustCompile(`(?m)^\tk8s\.io/kubernetes v(\S+)`).FindStringSubmatch(read(t, "test/differential/go.mod"))
	if original == nil || !strings.Contains(text, "| "+original[1]+", in `make test` |") {
		t.Errorf("docs/versions.md does not name the original controller of test/differential/go.mod: %v", original)
	}
	helm := regexp.MustCompile(`(?m)^\thelm\.sh/helm/v4 v(\S+)`).FindStringSubmatch(read(t, "release/go.mod"))
	if helm == nil || !strings.Contains(text, "| "+helm[1]+", in `make test` and `make test-versions` |") {
		t.Errorf("docs/versions.md does not name the helm of release/go.mod: %v", helm)
	}
}
