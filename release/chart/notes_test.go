package chart

import (
	"slices"
	"strings"
	"testing"

	charter "helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/engine"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

// cluster has objects, for the function lookup of templates.
type cluster struct{ objects []runtime.Object }

func (c cluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	client := fake.NewSimpleDynamicClient(scheme.Scheme, c.objects...)
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(apiVersion, kind))
	return client.Resource(resource), true, nil
}

func (c cluster) render(of charter.Charter, values common.Values) (map[string]string, error) {
	return engine.RenderWithClientProvider(of, values, c)
}

// notesBy returns what helm prints after an installation.
func notesBy(dir string, r Release, by renderer) (string, error) {
	rendered, err := render(dir, r, by)
	return rendered["taint-manager/templates/"+notes], err
}

// kubeControllerManagers are pods as kubeadm runs them, on the nodes a and b, with these flags each.
func kubeControllerManagers(flags ...string) (pods []runtime.Object) {
	for i, words := range flags {
		pods = append(pods, &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "kube-system", Name: "kube-controller-manager-" + string("ab"[i]),
				Labels: map[string]string{"component": "kube-controller-manager"},
			},
			Spec: v1.PodSpec{Containers: []v1.Container{{
				Command: append([]string{"kube-controller-manager"}, strings.Fields(words)...),
			}}},
		})
	}
	return pods
}

// What the notes say.
const (
	remove = "Method: Delete. Pods are deleted, as the built-in controller does"
	evict  = "Method: Evict. Pods are evicted when their PodDisruptionBudgets permit it."
	dryRun = "Method: none, this is a dry run."
	ignore = "Method: Ignore. Only pods that a policy matches are evicted."
	paused = "It is paused: no eviction starts."
	first  = "Where one of the 1 policies matches, its method counts instead."
	runs   = "The built-in controller is NOT switched off in "
	isOff  = "The built-in controller is switched off in "
	unseen = "can't be seen from here"
)

// wantNotes wants these sentences in the notes, and no other of them.
func wantNotes(t *testing.T, name, values string, pods []runtime.Object, want ...string) {
	t.Helper()
	said, err := notesBy(dir, release(t, "kube-system", values), cluster{pods}.render)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	either := []string{"is NOT switched off", "The built-in controller is switched off", unseen}
	for _, text := range slices.Concat([]string{remove, evict, dryRun, ignore, paused, first}, either, want) {
		wanted := slices.ContainsFunc(want, func(want string) bool { return strings.Contains(want, text) })
		if strings.Contains(said, text) != wanted {
			t.Errorf("%s: says %q: %t, want %t:\n%s", name, text, !wanted, wanted, said)
		}
	}
}

func TestTheNotesSayTheMethod(t *testing.T) {
	for values, want := range map[string][]string{
		"{}":                                   {remove},
		"config: {eviction: {method: Evict}}":  {evict},
		"config: {eviction: {method: Ignore}}": {ignore},
		"config: {policies: [{name: a, method: Hold}]}":               {remove, first},
		"config: {dryRun: true}":                                      {dryRun},
		"config: {dryRun: true, policies: [{name: a, method: Hold}]}": {dryRun},
		"config: {paused: true}":                                      {remove, paused},
	} {
		wantNotes(t, values, values, nil, append(want, unseen)...)
	}
}

func TestTheNotesSayWhetherTheOriginalIsSwitchedOff(t *testing.T) {
	const (
		on  = "--controllers=*,bootstrapsigner,tokencleaner"
		off = on + ",-taint-eviction-controller"
		a   = "kube-controller-manager-a"
		b   = "kube-controller-manager-b"
	)
	for name, test := range map[string]struct {
		flags []string
		want  string
	}{
		"it runs":                        {[]string{on}, runs + a + ": "},
		"it runs without a list":         {[]string{""}, runs + a + ": "},
		"it is switched off":             {[]string{off, off}, isOff + a + ", " + b + "."},
		"it is switched off on one node": {[]string{off, on}, runs + b + ": "},
		"another one is switched off":    {[]string{on + ",-device-taint-eviction-controller"}, runs + a + ": "},
		"it is named before it is switched off": {
			[]string{"--controllers=taint-eviction-controller,*,-taint-eviction-controller"}, runs + a + ": ",
		},
		"it is switched off first of all": {
			[]string{"--controllers -taint-eviction-controller,*,-device-taint-eviction-controller"}, isOff + a + ".",
		},
		"it is a part of another one": {
			[]string{off + " --feature-gates=SeparateTaintEvictionController=false"}, runs + a + ": ",
		},
		"so it is by AllBeta": {[]string{off + " --feature-gates=AllBeta=false"}, runs + a + ": "},
		"AllBeta does not count if the gate is given": {
			[]string{off + " --feature-gates=AllBeta=false,SeparateTaintEvictionController=true"}, isOff + a + ".",
		},
		"a list without a star": {[]string{"--controllers=deployment,replicaset"}, isOff + a + "."},
		"a list that has it":    {[]string{"--controllers=deployment,taint-eviction-controller"}, runs + a + ": "},
	} {
		wantNotes(t, name, "{}", kubeControllerManagers(test.flags...), remove, test.want)
	}
	kops := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kube-system", Name: "kube-controller-manager-i-0",
			Labels: map[string]string{"k8s-app": "kube-controller-manager"},
		},
		Spec: v1.PodSpec{Containers: []v1.Container{{
			Command: []string{"/usr/local/bin/kube-controller-manager"}, Args: []string{"--controllers=*,tokencleaner"},
		}}},
	}
	wantNotes(t, "it runs as kOps runs it", "{}", []runtime.Object{kops}, remove, runs+kops.Name+": ")
	etcd := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "etcd"}}
	wantNotes(t, "other pods", "{}", []runtime.Object{etcd}, remove, unseen)
}
