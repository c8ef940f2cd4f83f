package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// state returns the lease and the journal in kube-system with the metadata by which helm knows the owner.
func state(manager, release, namespace string) []runtime.Object {
	metadata := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: "kube-system", Name: name, Labels: map[string]string{"app.kubernetes.io/managed-by": manager},
			Annotations: map[string]string{"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": namespace},
		}
	}
	objects := []runtime.Object{&coordinationv1.Lease{ObjectMeta: metadata("taint-manager"), Spec: coordinationv1.LeaseSpec{HolderIdentity: new("somebody")}}}
	for i := range 8 {
		name := fmt.Sprintf("taint-manager-journal-%d", i)
		objects = append(objects, &v1.ConfigMap{ObjectMeta: metadata(name), Data: map[string]string{"node": "record"}})
	}
	return objects
}

// TestTheChartKeepsTheLeaseAndTheJournalThatItsReleaseOwns compares with what version 0.1 has created. Package
// test/e2e upgrades and rolls back with helm itself.
func TestTheChartKeepsTheLeaseAndTheJournalThatItsReleaseOwns(t *testing.T) {
	owned := state("Helm", "taint-manager", "kube-system")
	var all []string
	for _, object := range owned {
		all = append(all, object.(metav1.Object).GetName())
	}
	for name, test := range map[string]struct {
		there []runtime.Object
		want  []string
	}{
		"a fresh installation":              {nil, nil},
		"owned":                             {owned, all},
		"some of them are there":            {owned[1:3], all[1:3]},
		"of another release":                {state("Helm", "other", "kube-system"), nil},
		"of a release in another namespace": {state("Helm", "taint-manager", "other"), nil},
		"of another program":                {state("", "taint-manager", "kube-system"), nil},
	} {
		files, err := render(dir, Release{Namespace: "kube-system"}, cluster{test.there}.render)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for text := range strings.SplitSeq(files["taint-manager/templates/state.yaml"], "\n---\n") {
			if strings.TrimSpace(text) == "" {
				continue
			}
			var object struct {
				metav1.ObjectMeta `json:"metadata"`

				Spec, Data any
			}
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got = append(got, object.Name)
			want := map[string]string{"argocd.argoproj.io/sync-options": "Prune=false", "helm.sh/resource-policy": "keep"}
			if diff := cmp.Diff(want, object.Annotations); diff != "" || object.Namespace != "kube-system" || object.Spec != nil || object.Data != nil {
				t.Errorf("%s: %s has a content, or other annotations (-want +got):\n%s", name, object.Name, diff)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestManifestsRenderedWithoutAClusterHaveNeitherLeaseNorJournal(t *testing.T) {
	for name, r := range releases(t) {
		files, err := Render(dir, r)
		if err != nil {
			t.Fatal(err)
		}
		if all := Join(files); strings.Contains(all, "kind: Lease") || strings.Contains(all, "\n  name: taint-manager-journal") {
			t.Errorf("%s creates the lease or the journal", name)
		}
	}
}
