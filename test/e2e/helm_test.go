package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

const (
	chartDir  = "deploy/chart" // from the root of the repository
	notesFile = "../../release/chart/testdata/default.notes.txt"
)

// TestTheChartWithHelmItself installs, upgrades, rolls back and uninstalls the chart with the program helm.
func TestTheChartWithHelmItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.waitForNoPods(t)
	h := newHelm(t, w)
	h.runsHooks(t)
	t.Run("a server before 1.32 is refused", h.checksTheServer)
	_ = t.Run("in kube-system", h.inKubeSystem) && // else its objects are in the way
		t.Run("over what kubectl has applied", h.takesOver) &&
		t.Run("a configuration file that the program refuses", h.refusesFiles) &&
		t.Run("odd values at the first installation", h.installsOddValues) &&
		t.Run("in a namespace that it creates", h.elsewhere)
}

// helm runs bin/helm at the root of the repository as an administrator, with nothing of this machine's settings.
type helm struct {
	*world
	binary string
	env    []string
}

func newHelm(t *testing.T, w *world) *helm {
	t.Helper()
	binary, err := filepath.Abs(filepath.Join("..", "..", "bin", "helm"))
	must(t, err)
	if _, err := os.Stat(binary); err != nil {
		t.Fatalf("helm is not built: run `make bin/helm` (%v)", err)
	}
	home := t.TempDir()
	env := []string{"HOME=" + home, "KUBECONFIG=" + w.Kubeconfig()}
	for _, name := range []string{"CACHE", "CONFIG", "DATA"} {
		env = append(env, "HELM_"+name+"_HOME="+filepath.Join(home, strings.ToLower(name)))
	}
	// Nothing but the API server, which is on loopback, can be reached.
	return &helm{world: w, binary: binary, env: append(env, "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1")}
}

// try runs helm and returns its output.
func (h *helm) try(t *testing.T, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), h.binary, args...)
	command.Dir, command.Env = filepath.Join("..", ".."), h.env
	out, err := command.CombinedOutput()
	return string(out), err
}

// helm runs helm, which must succeed without a warning, and returns its output.
func (h *helm) helm(t *testing.T, args ...string) string {
	t.Helper()
	out, err := h.try(t, args...)
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	if strings.Contains(strings.ToLower(out), "warn") {
		t.Errorf("helm %s warns:\n%s", strings.Join(args, " "), out)
	}
	return out
}

// documented returns the arguments of the command in docs/install.md that installs the chart into a namespace.
func documented(t *testing.T, namespace string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/install.md")
	must(t, err)
	command := regexp.MustCompile("helm install taint-manager deploy/chart -n " + namespace + "[^`#\n]*").Find(text)
	if command == nil {
		t.Fatalf("docs/install.md has no helm install for %s", namespace)
	}
	return strings.Fields(string(command))[1:]
}

// checksTheServer installs through a proxy that tells another version of the API server.
func (h *helm) checksTheServer(t *testing.T) {
	for version, refused := range map[string]bool{
		"v1.31.14": true, "v1.31.14-gke.1000": true, "v1.32.0": false, "v1.32.9-eks-5d4a308": false, "v1.38.0-alpha.1": false,
	} {
		out, err := h.try(t, append(documented(t, "kube-system"), "--dry-run=server", "--kube-apiserver="+h.tells(t, version))...)
		says := strings.Contains(out, "chart requires kubeVersion: >=1.32.0-0 which is incompatible with Kubernetes "+version)
		if (err != nil) != refused || says != refused {
			t.Errorf("%s: error %v, want a refusal %t:\n%s", version, err, refused, out)
		}
	}
}

// tells returns the URL of a proxy of the API server that tells this version.
func (h *helm) tells(t *testing.T, version string) string {
	t.Helper()
	return h.proxy(t, "/version", func(w http.ResponseWriter, _ *http.Request) {
		if err := json.NewEncoder(w).Encode(map[string]string{"gitVersion": version}); err != nil {
			t.Error(err)
		}
	})
}

// proxy returns the URL of a proxy of the API server that answers itself what has this end of the path.
func (h *helm) proxy(t *testing.T, end string, answer http.HandlerFunc) string {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", h.Kubeconfig())
	must(t, err)
	transport, err := rest.TransportFor(config)
	must(t, err)
	target, err := url.Parse(h.URL())
	must(t, err)
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, end) {
			proxy.ServeHTTP(w, r)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// inKubeSystem follows a release from its installation to its end.
func (h *helm) inKubeSystem(t *testing.T) {
	_, said, _ := strings.Cut(h.helm(t, documented(t, "kube-system")...), "NOTES:\n")
	notes, err := os.ReadFile(notesFile)
	if err != nil || strings.TrimSpace(said) != strings.TrimSpace(string(notes)) {
		t.Errorf("the notes differ from %s: %v\n%s", notesFile, err, said)
	}
	leader := h.replica(t, "kube-system", election...)
	t.Run("leads and evicts as installed", func(t *testing.T) { h.leadsAndEvicts(t, leader, "kube-system") })
	s := h.scene(t)
	pod := s.pod("long", bears("key", 3600))
	s.taint("key")
	s.untilRecorded("key")
	h.runsTheOriginal(t, s.node)
	next := h.nextChart(t)
	t.Run("upgraded and rolled back with a running leader", func(t *testing.T) { h.upgrades(t, next, s.node, true) })
	leader.Kill() // it keeps the lease
	t.Run("upgraded and rolled back without a leader", func(t *testing.T) { h.upgrades(t, next, s.node, false) })
	if _, err := h.admin.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{}); err != nil {
		t.Errorf("a pod went long before its deadline: %v", err)
	}
	h.uninstalls(t, "kube-system")
}

// runsTheOriginal creates a pod of kube-controller-manager that has not switched the built-in controller off.
func (h *helm) runsTheOriginal(t *testing.T, node string) {
	t.Helper()
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-controller-manager-a", Labels: map[string]string{"component": "kube-controller-manager"}},
		Spec: v1.PodSpec{
			NodeName: node, Tolerations: []v1.Toleration{{Operator: v1.TolerationOpExists}},
			Containers: []v1.Container{{Name: "c", Image: "image", Command: []string{"kube-controller-manager", "--controllers=*"}}},
		},
	}
	_, err := h.admin.CoreV1().Pods("kube-system").Create(t.Context(), pod, metav1.CreateOptions{})
	must(t, err)
}

// nextChart returns an archive of the chart of a later version.
func (h *helm) nextChart(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	h.helm(t, "package", chartDir, "--version=7.8.9", "--app-version=v7.8.9", "--destination="+dir)
	return filepath.Join(dir, "taint-manager-7.8.9.tgz")
}

// upgrades upgrades the release in all ways, and rolls it back.
func (h *helm) upgrades(t *testing.T, next, node string, leads bool) {
	before := h.state(t)
	for _, args := range [][]string{
		{"upgrade", "taint-manager", next, "--set=config.clusterName=blue,podLabels.team=infra"},
		{"rollback", "taint-manager"},
		{"upgrade", "taint-manager", next, "--force-conflicts", "--server-side=true"},
		{"upgrade", "taint-manager", chartDir, "--server-side=false"},
		{"upgrade", "taint-manager", next, "--server-side=false", "--force-replace"},
		{"rollback", "taint-manager", "--server-side=true"},
	} {
		way := "helm " + strings.Join(args, " ")
		out := h.helm(t, append(args, "-n", "kube-system")...)
		if args[0] == "upgrade" && !strings.Contains(out, "The built-in controller is NOT switched off in kube-controller-manager-a") {
			t.Errorf("%s: the notes don't say that the built-in controller runs:\n%s", way, out)
		}
		h.kept(t, way, before, node, leads)
		h.configured(t, way, strings.Contains(way, "blue"))
	}
	if got := h.helm(t, "get", "manifest", "taint-manager", "-n", "kube-system"); strings.Contains(got, "kind: Lease") || strings.Contains(got, "journal-0\n  namespace") {
		t.Errorf("the release has the lease or the journal, which the program has created:\n%s", got)
	}
}

// configured requires the Deployment and the configuration to have the values of the upgrade, or not.
func (h *helm) configured(t *testing.T, way string, upgraded bool) {
	t.Helper()
	config, err := h.admin.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
	must(t, err)
	label := h.deployment(t, "kube-system").Spec.Template.Labels["team"]
	if got := strings.Contains(config.Data["config.yaml"], "clusterName: blue"); got != upgraded || (label == "infra") != upgraded {
		t.Errorf("%s: the configuration is %q, the pods' label %q, want those of the upgrade: %t", way, config.Data, label, upgraded)
	}
}

// takesOver installs a release over what kubectl has applied and a leader has written.
func (h *helm) takesOver(t *testing.T) {
	h.kubectl(t, "apply", "-f", installed)
	leader := h.replica(t, "kube-system", election...)
	s := h.scene(t)
	s.taint("key")
	s.untilRecorded("key")
	before := h.state(t)
	h.kubectl(t, "apply", "-f", installed)
	h.kept(t, "applied again", before, s.node, true)
	install := documented(t, "kube-system")
	if out, err := h.try(t, install...); err == nil || !strings.Contains(out, "invalid ownership metadata") {
		t.Errorf("without --take-ownership: %v\n%s", err, out)
	}
	h.kept(t, "refused", before, s.node, true)
	h.helm(t, append(install, "--take-ownership")...)
	h.kept(t, "taken over", before, s.node, true)
	if err := leader.Stop(); err != nil {
		t.Error(err)
	}
	h.uninstalls(t, "kube-system")
}

// elsewhere installs a release into a namespace that is not there yet, until its replicas are ready.
func (h *helm) elsewhere(t *testing.T) {
	s := h.scene(t)
	h.kubectl(t, "label", "node", s.node, "kubernetes.io/os=linux")
	h.helm(t, append(documented(t, "taint-manager-system"), "--wait")...)
	if nodes := h.replicaNodes(t); len(nodes) != 2 {
		t.Errorf("helm did not wait for the replicas: ready are those on %v", nodes)
	}
	t.Run("leads and evicts there", func(t *testing.T) { h.evictsAsDeployed(t, "taint-manager-system", election...) })
	h.uninstalls(t, "taint-manager-system")
}

// uninstalls removes the release with everything that it has created, and what the program has created.
func (h *helm) uninstalls(t *testing.T, namespace string) {
	t.Helper()
	h.helm(t, "uninstall", "taint-manager", "-n", namespace)
	h.forgets(t, namespace)
	kinds := "leases,configmaps,deployments,services,jobs,networkpolicies,poddisruptionbudgets,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,resourcequotas,flowschemas"
	if left := h.kubectl(t, "get", kinds, "-A", "-l", "app.kubernetes.io/name=taint-manager", "-o", "name"); left != "" {
		t.Errorf("helm uninstall leaves:\n%s", left)
	}
	if left := h.kubectl(t, "get", "leases,configmaps,secrets", "-n", namespace, "-o", "name"); strings.Contains(left, "taint-manager") {
		t.Errorf("helm uninstall leaves some of these:\n%s", left)
	}
}
