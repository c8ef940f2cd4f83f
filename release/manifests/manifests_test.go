package manifests

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/release/archive"
	"github.com/taint-manager/taint-manager/release/chart"
)

var update = flag.Bool("update", false, "rewrite the files of deploy")

var root = filepath.Join("..", "..")

func TestDeployHoldsWhatTheChartRenders(t *testing.T) {
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		path := filepath.Join(root, name)
		if *update {
			if err := archive.Write(path, []byte(want)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v; run 'make manifests'", err)
			continue
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s differs from what the chart renders (-chart +file); change deploy/chart and run 'make manifests':\n%s", name, diff)
		}
	}
}

func TestKustomizeHoldsNothingElse(t *testing.T) {
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(root, "deploy/kustomize"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if _, ok := files["deploy/kustomize/"+entry.Name()]; !ok {
			t.Errorf("deploy/kustomize/%s is rendered from no template: remove it", entry.Name())
		}
	}
}

func TestInstallNamesTheImageAtItsTopAndInTheDeployment(t *testing.T) {
	text, err := Install(root, "v1.2.3", chart.Image{Repository: "registry.example.com/taint-manager"})
	if err != nil {
		t.Fatal(err)
	}
	const name = "registry.example.com/taint-manager:v1.2.3"
	lines := strings.Split(text, "\n")
	if !slices.ContainsFunc(lines[:5], func(line string) bool { return strings.Contains(line, name) }) {
		t.Errorf("the first lines do not name %s:\n%s", name, strings.Join(lines[:5], "\n"))
	}
	if want := "It is in image.tar, next to this file; docs/install.md says how"; !strings.Contains(text, want) {
		t.Errorf("install.yaml of a release does not say %q", want)
	}
	if strings.Contains(text, "dist/") {
		t.Error("install.yaml of a release names the folder dist, which its readers do not have")
	}
	if !slices.Contains(lines, "        image: "+name) {
		t.Errorf("the Deployment does not name %s", name)
	}
}
