package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

const (
	installed = "../../deploy/install.yaml"
	kustomize = "../../deploy/kustomize"
	elsewhere = "../../release/chart/testdata/elsewhere.golden.yaml" // in a namespace of its own
	large     = "../../release/chart/testdata/large.golden.yaml"     // in kube-system, other values
)

func TestTheManifestsOnARealControlPlane(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{AuditLevel: "Metadata"})
	w.waitForNoPods(t)
	for _, way := range [][]string{{"apply"}, {"apply", "--server-side"}} {
		name := strings.Join(way, " ")
		t.Run(name+": installed, upgraded, rolled back, uninstalled", func(t *testing.T) { w.installs(t, way) })
	}
	t.Run("the kustomization of docs/install.md evicts by the method Evict", w.kustomizes)
	t.Run("that of docs/install.md for another namespace evicts there", w.kustomizesElsewhere)
	t.Run("two replicas fit on one node, and spread over two and three", w.spreads)
	t.Run("a namespace of its own under the restricted standard", w.fitsElsewhere)
}

// kubectl runs kubectl, which must succeed, and returns its output.
func (w *world) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := w.Kubectl(t.Context(), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	if strings.Contains(string(out), "Warning") {
		t.Errorf("kubectl %s warns:\n%s", strings.Join(args, " "), out)
	}
	return string(out)
}

func (w *world) installs(t *testing.T, way []string) {
	apply := func(file string) { w.kubectl(t, append(slices.Clone(way), "-f", file)...) }
	apply(installed)
	if got := w.deployment(t, "kube-system").Spec; *got.Replicas != 2 || len(got.Template.Spec.Tolerations) != 5 {
		t.Errorf("installed: got %d replicas and %d tolerations", *got.Replicas, len(got.Template.Spec.Tolerations))
	}
	apply(large)
	if got := w.deployment(t, "kube-system").Spec; *got.Replicas != 3 || !strings.Contains(got.Template.Spec.Containers[0].Image, "@sha256:") {
		t.Errorf("upgraded: got %d replicas of %s", *got.Replicas, got.Template.Spec.Containers[0].Image)
	}
	apply(installed)
	got := w.deployment(t, "kube-system").Spec
	if *got.Replicas != 2 || !strings.HasPrefix(got.Template.Spec.Containers[0].Image, "localhost/taint-manager:v") || got.Template.Spec.Affinity != nil {
		t.Errorf("rolled back: got %+v", got)
	}
	before := w.versions(t)
	apply(installed)
	if after := w.versions(t); !slices.Equal(before, after) {
		t.Errorf("applied twice, it changes something: before %v, after %v", before, after)
	}
	w.kubectl(t, "delete", "-f", installed)
	if _, err := w.admin.AppsV1().Deployments("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("uninstalled, the Deployment is still there: %v", err)
	}
}

// kustomization writes a kustomization of docs/install.md, whose second line begins with these words, to a folder next
// to the resources that it names.
func kustomization(t *testing.T, second string) (folder string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/install.md")
	must(t, err)
	const resources = "resources: [taint-manager/deploy/kustomize] # a copy of the folder\n"
	_, written, found := strings.Cut(string(text), "\n```yaml\n"+resources+second)
	written, _, ended := strings.Cut(written, "\n```\n")
	if !found || !ended {
		t.Fatalf("docs/install.md has no kustomization with %s", second)
	}
	folder = t.TempDir()
	must(t, os.CopyFS(filepath.Join(folder, "taint-manager", "deploy", "kustomize"), os.DirFS(kustomize)))
	must(t, os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(resources+second+written), 0o600))
	return folder
}

// kustomizesElsewhere installs by the field "namespace" of a kustomization.
func (w *world) kustomizesElsewhere(t *testing.T) {
	const namespace = "taint-manager-system"
	folder := kustomization(t, "namespace:")
	w.kubectl(t, "create", "namespace", namespace)
	w.kubectl(t, "apply", "-k", folder)
	w.evictsAsDeployed(t, namespace)
	w.kubectl(t, "delete", "-k", folder)
	w.kubectl(t, "delete", "namespace", namespace)
	if left := w.kubectl(t, "-n", "kube-system", "get", "leases,rolebindings,roles", "-l", "app.kubernetes.io/name=taint-manager", "-o", "name"); left != "" {
		t.Errorf("it leaves in kube-system:\n%s", left)
	}
}

// kustomizes installs by the kustomization in docs/install.md, and runs the program with the permissions that it adds.
func (w *world) kustomizes(t *testing.T) {
	folder := kustomization(t, "images:")
	w.kubectl(t, "apply", "-k", folder)
	defer w.kubectl(t, "delete", "-k", folder)
	if got, want := w.deployment(t, "kube-system").Spec.Template.Spec.Containers[0].Image, "registry.example.com/taint-manager:v1.2.3"; got != want {
		t.Errorf("got the image %s, want %s", got, want)
	}
	began := time.Now()
	w.evictsAsDeployed(t, "kube-system", election...)
	evictions := 0
	for _, r := range audited(t, w.AuditLog()) {
		if r.Verb == "create" && r.ObjectRef.Subresource == "eviction" && r.ResponseStatus.Code < 300 && r.RequestReceivedTimestamp.After(began) {
			evictions++
		}
	}
	if evictions == 0 {
		t.Error("no pod went by the eviction API")
	}
}

// versions returns the resource versions of the installed objects, or the generation of those whose status the
// control plane writes.
func (w *world) versions(t *testing.T) []string {
	t.Helper()
	kinds := "serviceaccounts,configmaps,roles,rolebindings,clusterroles,clusterrolebindings"
	all := w.kubectl(t, "get", "-n", "kube-system", kinds, "-l", "app.kubernetes.io/name=taint-manager",
		"-o", `jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	generations := w.kubectl(t, "get", "-n", "kube-system", "deployments,poddisruptionbudgets", "-l", "app.kubernetes.io/name=taint-manager",
		"-o", `jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.generation}{"\n"}{end}`)
	list := strings.Fields(all + generations)
	if len(list) < 30 {
		t.Fatalf("got %q", list)
	}
	return list
}

func (w *world) deployment(t *testing.T, namespace string) *appsv1.Deployment {
	t.Helper()
	d, err := w.admin.AppsV1().Deployments(namespace).Get(t.Context(), "taint-manager", metav1.GetOptions{})
	must(t, err)
	return d
}

// replicaNodes returns the nodes of the ready replicas that are not terminating.
func (w *world) replicaNodes(t *testing.T) (nodes []string) {
	t.Helper()
	pods, err := w.admin.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=taint-manager"})
	must(t, err)
	for _, pod := range pods.Items {
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
			return c.Type == v1.PodReady && c.Status == v1.ConditionTrue
		})
		if ready && pod.DeletionTimestamp == nil {
			nodes = append(nodes, pod.Spec.NodeName)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// waitForNoPods waits until a new control plane can accept pods in kube-system.
func (w *world) waitForNoPods(t *testing.T) {
	until(t, "the namespace kube-system is there", func() bool {
		_, err := w.admin.CoreV1().ServiceAccounts("kube-system").Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
}

func (w *world) spreads(t *testing.T) {
	for _, step := range []struct {
		node string
		want []string
	}{
		{"spread-1", []string{"spread-1", "spread-1"}},
		{"spread-2", []string{"spread-1", "spread-2"}},
		{"spread-3", nil}, // any two of the three
	} {
		s := w.newNode(t, step.node)
		w.kubectl(t, "label", "node", step.node, "kubernetes.io/os=linux")
		w.kubectl(t, "apply", "-f", installed)
		w.kubectl(t, "-n", "kube-system", "rollout", "restart", "deployment/taint-manager")
		w.kubectl(t, "-n", "kube-system", "rollout", "status", "deployment/taint-manager", "--timeout=60s")
		var got []string
		until(s, "two replicas are ready", func() bool { got = w.replicaNodes(t); return len(got) == 2 })
		if step.want != nil && !slices.Equal(got, step.want) || step.want == nil && got[0] == got[1] {
			t.Errorf("with %s the replicas are on %v, want %v", step.node, got, step.want)
		}
	}
	w.keepsOne(t)
	w.kubectl(t, "delete", "-f", installed)
}

// keepsOne waits until the budget counts both replicas, and permits that one of them is evicted.
func (w *world) keepsOne(t *testing.T) {
	t.Helper()
	until(t, "the budget keeps one of two replicas", func() bool {
		budget, err := w.admin.PolicyV1().PodDisruptionBudgets("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
		return err == nil && budget.Status.CurrentHealthy == 2 && budget.Status.DesiredHealthy == 1 && budget.Status.DisruptionsAllowed == 1
	})
}

func (w *world) fitsElsewhere(t *testing.T) {
	const namespace = "taint-manager-system"
	w.kubectl(t, "create", "namespace", namespace)
	w.kubectl(t, "label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted", "pod-security.kubernetes.io/warn=restricted")
	w.kubectl(t, "apply", "-f", elsewhere)
	defer w.kubectl(t, "delete", "-f", elsewhere)
	w.kubectl(t, "-n", namespace, "rollout", "status", "deployment/taint-manager", "--timeout=60s")
	w.classifies(t, w.kubeconfigOf(t, namespace, "taint-manager"), namespace, "taint-manager-leader-election at leader-election", "taint-manager at workload-high")
	w.evictsAsDeployed(t, namespace)
}

// evictsAsDeployed runs the program as the Deployment of this namespace says, with these additional flags, until it has
// evicted a pod.
func (w *world) evictsAsDeployed(t *testing.T, namespace string, flags ...string) {
	m := w.replica(t, namespace, flags...)
	defer func() {
		if err := m.Stop(); err != nil {
			t.Error(err)
		}
	}()
	w.leadsAndEvicts(t, m, namespace)
}

func (w *world) leadsAndEvicts(t *testing.T, m *testcluster.Manager, namespace string) {
	t.Helper()
	s := w.scene(t)
	pod := s.pod("web")
	until(s, "it leads", func() bool { return holder(w.lease(t, namespace)) != "" })
	s.goes(pod, s.taint("maintenance"), 0)
	s.event(pod, "Marking for deletion Pod")
	if log := w.logOf(t, m); strings.Contains(log, "is forbidden") {
		t.Error(log)
	}
}

// argsOnThisMachine returns the container's arguments after "run", with the mounted ConfigMap's files in a folder.
func (w *world) argsOnThisMachine(t *testing.T, d *appsv1.Deployment) (args []string) {
	t.Helper()
	spec, folder := d.Spec.Template.Spec, t.TempDir()
	data, err := w.admin.CoreV1().ConfigMaps(d.Namespace).Get(t.Context(), spec.Volumes[0].ConfigMap.Name, metav1.GetOptions{})
	must(t, err)
	for name, text := range data.Data {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	for _, arg := range spec.Containers[0].Args[1:] {
		args = append(args, strings.ReplaceAll(arg, spec.Containers[0].VolumeMounts[0].MountPath, folder))
	}
	return args
}

// kubeconfigOf returns a kubeconfig with a token of the service account, as its pods have.
func (w *world) kubeconfigOf(t *testing.T, namespace, account string) string {
	t.Helper()
	token, err := w.admin.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	config, err := clientcmd.LoadFromFile(w.Kubeconfig())
	must(t, err)
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*config, path))
	return path
}
