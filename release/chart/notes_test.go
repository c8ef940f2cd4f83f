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
	"sigs.k8s.io/yaml"
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

// kubeControllerManager is a pod as kubeadm runs it.
func kubeControllerManager(node string, flags ...string) runtime.Object {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-controller-manager-" + node, Labels: map[string]string{"component": "kube-controller-manager"}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Command: append([]string{"kube-controller-manager"}, flags...)}}},
	}
}

func TestTheNotesSayTheMethodAndWhetherTheOriginalIsSwitchedOff(t *testing.T) {
	const (
		on     = "--controllers=*,bootstrapsigner,tokencleaner"
		off    = on + ",-taint-eviction-controller"
		remove = "Method: Delete. Pods are deleted, as the built-in controller does"
		evict  = "Method: Evict. Pods are evicted when their PodDisruptionBudgets permit it."
		dryRun = "Method: none, this is a dry run."
		ignore = "Method: Ignore. Only pods that a policy matches are evicted."
		paused = "It is paused: no eviction starts."
		first  = "Where one of the 1 policies matches, its method counts instead."
	)
	all := []string{remove, evict, dryRun, ignore, paused, first, "is NOT switched off", "The built-in controller is switched off", "can't be seen from here"}
	for name, test := range map[string]struct {
		values string
		pods   []runtime.Object
		want   []string
	}{
		"default, and nothing seen":    {"{}", nil, []string{remove, "can't be seen from here"}},
		"evict":                        {"config: {eviction: {method: Evict}}", nil, []string{evict, "can't be seen from here"}},
		"ignore":                       {"config: {eviction: {method: Ignore}}", nil, []string{ignore, "can't be seen from here"}},
		"a policy":                     {"config: {policies: [{name: a, method: Hold}]}", nil, []string{remove, first, "can't be seen from here"}},
		"dry run":                      {"config: {dryRun: true}", nil, []string{dryRun, "can't be seen from here"}},
		"a policy in a dry run":        {"config: {dryRun: true, policies: [{name: a, method: Hold}]}", nil, []string{dryRun, "can't be seen from here"}},
		"paused":                       {"config: {paused: true}", nil, []string{remove, paused, "can't be seen from here"}},
		"the built-in controller runs": {"{}", []runtime.Object{kubeControllerManager("a", on)}, []string{remove, "The built-in controller is NOT switched off in kube-controller-manager-a: "}},
		"the built-in controller runs without a list": {"{}", []runtime.Object{kubeControllerManager("a")}, []string{remove, "The built-in controller is NOT switched off in kube-controller-manager-a: "}},
		"the built-in controller is switched off": {
			"{}",
			[]runtime.Object{kubeControllerManager("a", off), kubeControllerManager("b", off)},
			[]string{remove, "The built-in controller is switched off in kube-controller-manager-a, kube-controller-manager-b."},
		},
		"the built-in controller is switched off on one node": {
			"{}",
			[]runtime.Object{kubeControllerManager("a", off), kubeControllerManager("b", on)},
			[]string{remove, "The built-in controller is NOT switched off in kube-controller-manager-b: "},
		},
		"another controller is switched off": {
			"{}",
			[]runtime.Object{kubeControllerManager("a", on+",-device-taint-eviction-controller")},
			[]string{remove, "The built-in controller is NOT switched off in kube-controller-manager-a: "},
		},
		"the built-in controller is named before it is switched off": {
			"{}",
			[]runtime.Object{kubeControllerManager("a", "--controllers=taint-eviction-controller,*,-taint-eviction-controller")},
			[]string{remove, "The built-in controller is NOT switched off in kube-controller-manager-a: "},
		},
		"the built-in controller is switched off first of all": {
			"{}",
			[]runtime.Object{kubeControllerManager("a", "--controllers", "-taint-eviction-controller,*,-device-taint-eviction-controller")},
			[]string{remove, "The built-in controller is switched off in kube-controller-manager-a."},
		},
		"the built-in controller is a part of another controller": {
			"{}",
			[]runtime.Object{kubeControllerManager("a", off, "--feature-gates=SeparateTaintEvictionController=false")},
			[]string{remove, "The built-in controller is NOT switched off in kube-controller-manager-a: "},
		},
		"the built-in controller is a part of another controller by AllBeta": {
			"{}",
			[]runtime.Object{kubeControllerManager("a", off, "--feature-gates=AllBeta=false")},
			[]string{remove, "The built-in controller is NOT switched off in kube-controller-manager-a: "},
		},
		"AllBeta does not count if the gate is given": {
			"{}",
			[]runtime.Object{kubeControllerManager("a", off, "--feature-gates=AllBeta=false,SeparateTaintEvictionController=true")},
			[]string{remove, "The built-in controller is switched off in kube-controller-manager-a."},
		},
		"a list without a star": {
			"{}",
			[]runtime.Object{kubeControllerManager("a", "--controllers=deployment,replicaset")},
			[]string{remove, "The built-in controller is switched off in kube-controller-manager-a."},
		},
		"a list that has the built-in controller": {
			"{}",
			[]runtime.Object{kubeControllerManager("a", "--controllers=deployment,taint-eviction-controller")},
			[]string{remove, "The built-in controller is NOT switched off in kube-controller-manager-a: "},
		},
		"the built-in controller runs as kOps runs it": {
			"{}",
			[]runtime.Object{&v1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-controller-manager-i-0", Labels: map[string]string{"k8s-app": "kube-controller-manager"}},
				Spec:       v1.PodSpec{Containers: []v1.Container{{Command: []string{"/usr/local/bin/kube-controller-manager"}, Args: []string{"--controllers=*,tokencleaner"}}}},
			}},
			[]string{remove, "The built-in controller is NOT switched off in kube-controller-manager-i-0: "},
		},
		"other pods": {
			"{}",
			[]runtime.Object{&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "etcd"}}},
			[]string{remove, "can't be seen from here"},
		},
	} {
		r := Release{Namespace: "kube-system"}
		if err := yaml.Unmarshal([]byte(test.values), &r.Values); err != nil {
			t.Fatal(err)
		}
		said, err := notesBy(dir, r, cluster{test.pods}.render)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, text := range slices.Concat(all, test.want) {
			wanted := slices.ContainsFunc(test.want, func(want string) bool { return strings.Contains(want, text) })
			if strings.Contains(said, text) != wanted {
				t.Errorf("%s: says %q: %t, want %t:\n%s", name, text, !wanted, wanted, said)
			}
		}
	}
}
