package run

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// rendered returns the files of manifests that the chart renders, with the default values and with others.
func rendered(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "release", "chart", "testdata", "*.golden.yaml"))
	must(t, err)
	if len(files) < 4 {
		t.Fatalf("got %d rendered manifests", len(files))
	}
	return append(files, filepath.Join(root, "deploy", "install.yaml"))
}

// decodeKind decodes the object of this kind with the name taint-manager.
func decodeKind(t *testing.T, file, kind string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var m manifest
		must(t, yaml.Unmarshal(document, &m))
		if m.Kind == kind && m.Metadata.Name == "taint-manager" {
			must(t, yaml.UnmarshalStrict(document, into))
			return
		}
	}
	t.Fatalf("%s has no %s", file, kind)
}

func TestTheManifestsRunTheProgramWithALeaseInItsNamespace(t *testing.T) {
	for _, file := range rendered(t) {
		var d appsv1.Deployment
		decodeKind(t, file, "Deployment", &d)
		args := d.Spec.Template.Spec.Containers[0].Args
		if err := Command(Build{}).ParseFlags(args[1:]); err != nil || args[0] != "run" {
			t.Errorf("%s: got %q: %v", file, args, err)
		}
		if got := deployed(t, file).LeaderElection.ResourceNamespace; got != d.Namespace {
			t.Errorf("%s: the lease is in namespace %s, the Deployment in %s", file, got, d.Namespace)
		}
	}
}

func TestTheManifestsGiveThePodsUIDToTheProgram(t *testing.T) {
	for _, file := range rendered(t) {
		var d appsv1.Deployment
		decodeKind(t, file, "Deployment", &d)
		for _, e := range d.Spec.Template.Spec.Containers[0].Env {
			if e.ValueFrom != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.uid" {
				t.Setenv(e.Name, file)
			}
		}
		if got := string(ownPod()); got != file {
			t.Errorf("%s: the program takes %q for its pod's UID", file, got)
		}
	}
}
