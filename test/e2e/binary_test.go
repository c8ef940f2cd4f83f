package e2e

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

func TestTheBinary(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true})
	t.Run("without permissions it names each that is missing, and does not start", w.namesMissingPermissions)
	t.Run("with a server that is not there it says so, and does not start", w.namesAnUnreachableServer)
	t.Run("it says at its start what it watches and how", w.announces)
	t.Run("it serves health to all and metrics to those who may", w.serves)
	t.Run("it gives the lease back when it is told to end", w.givesTheLeaseBack)
}

// refused runs taint-manager, requires it to end with an exit code other than 0, and returns its output.
func (w *world) refused(t *testing.T, flags ...string) string {
	t.Helper()
	m, err := w.Launch(t.Context(), "", "", flags...)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Wait(30 * time.Second); err == nil {
		t.Error("it ended with exit code 0")
	}
	log, err := m.Log()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log, "panic") || strings.Contains(log, "goroutine ") {
		t.Errorf("it panicked:\n%s", log)
	}
	return log
}

func (w *world) namesMissingPermissions(t *testing.T) {
	nobody, err := w.KubeconfigFor("nobody")
	if err != nil {
		t.Fatal(err)
	}
	said := w.refused(t, "--kubeconfig="+nobody)
	for _, want := range []string{
		"nodes is forbidden", "pods is forbidden", `cannot get resource "leases"`, "kubectl apply -f deploy/rbac.yaml",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not name %q:\n%s", want, said)
		}
	}
}

func (w *world) namesAnUnreachableServer(t *testing.T) {
	config, err := clientcmd.LoadFromFile(w.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	const nobodyThere = "https://127.0.0.1:1"
	for _, c := range config.Clusters {
		c.Server = nobodyThere
	}
	path := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	if said := w.refused(t, "--kubeconfig="+path); !strings.Contains(said, nobodyThere) {
		t.Errorf("it does not name the server:\n%s", said)
	}
}

func (w *world) announces(t *testing.T) {
	m := w.manage(t, "--max-evictions-per-second=7", "--eviction-workers=3")
	log, err := m.Log()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{w.URL(), `method="delete"`, "maxEvictionsPerSecond=7", "workers=3", "pods and nodes"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not name %q:\n%s", want, log)
		}
	}
}

func (w *world) serves(t *testing.T) {
	m, open := w.manage(t, "--profiling"), w.manage(t, "--authorization-always-allow-paths=/readyz,/metrics")
	anyone := &tls.Config{InsecureSkipVerify: true} // the server has just created its certificate
	admin := w.adminTLS(t)
	for _, c := range []struct {
		who  *tls.Config
		path string
		code int
		says string
	}{
		{anyone, "/healthz", 200, "ok"},
		{anyone, "/livez", 200, "ok"},
		{anyone, "/readyz?verbose", 200, "[+]"},
		{anyone, "/metrics", 403, ""},
		{admin, "/metrics", 200, "taint_eviction_controller_pod_deletions_total"},
		{admin, "/metrics", 200, `workqueue_depth{name="noexec_taint_node"}`},
		{admin, "/metrics", 200, "rest_client_requests_total"},
		{admin, "/metrics", 200, "taint_manager_paused 0"},
		{anyone, "/debug/pprof/", 403, ""},
		{admin, "/debug/pprof/goroutine?debug=1", 200, "goroutine profile"},
	} {
		code, body := ask(t, c.who, "https://"+m.Address()+c.path)
		// The authority of client certificates comes from the API server, moments after the start.
		for tries := 0; code != c.code && tries < 50; tries++ {
			<-time.After(100 * time.Millisecond) //nolint:forbidigo // for the authority of client certificates, which a real API server tells
			code, body = ask(t, c.who, "https://"+m.Address()+c.path)
		}
		if code != c.code || !strings.Contains(body, c.says) {
			t.Errorf("%s: got %d, want %d and %q in:\n%.2000s", c.path, code, c.code, c.says, body)
		}
	}
	if code, body := ask(t, anyone, "https://"+open.Address()+"/metrics"); code != 200 || !strings.Contains(body, "taint_manager_leading") {
		t.Errorf("everybody may read the metrics, and it answers %d:\n%.2000s", code, body)
	}
}

// adminTLS returns the TLS configuration of the administrator for a manager, which has just created its
// certificate.
func (w *world) adminTLS(t *testing.T) *tls.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	identity, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := identity.GetClientCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{*certificate}}
}

func ask(t *testing.T, who *tls.Config, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: who, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func (w *world) givesTheLeaseBack(t *testing.T) {
	m, err := w.StartManager(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if holder := w.waitForHolder(t, true); holder == "" {
		t.Error("nobody holds the lease")
	}
	if err := m.Stop(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
	if holder := w.waitForHolder(t, false); holder != "" {
		t.Errorf("%s holds the lease after its end", holder)
	}
}

// waitForHolder waits up to 5 s until the lease is held, or is not held.
func (w *world) waitForHolder(t *testing.T, held bool) (holder string) {
	t.Helper()
	for range 50 {
		lease, err := w.admin.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
		holder = ""
		if err == nil && lease.Spec.HolderIdentity != nil {
			holder = *lease.Spec.HolderIdentity
		}
		if (holder != "") == held {
			return holder
		}
		<-time.After(100 * time.Millisecond) //nolint:forbidigo // for the manager, a process of its own
	}
	return holder
}
