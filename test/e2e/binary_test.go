package e2e

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

func TestTheProgramSaysWhatItDoesAndServesHealthToAllAndMetricsToThoseWhoMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true})
	m, open := w.manage(t, "--max-evictions-per-second=7", "--eviction-workers=3"), w.manage(t, "--authorization-always-allow-paths=/readyz,/metrics")
	log := w.logOf(t, m)
	for _, want := range []string{w.URL(), `method="delete"`, "maxEvictionsPerSecond=7", "workers=3", "pods and nodes"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not name %q:\n%s", want, log)
		}
	}
	anyone, admin := anyone(), w.adminTLS(t)
	for _, c := range []struct {
		who  *tls.Config
		url  string
		code int
		says string
	}{
		{anyone, m.Address() + "/healthz", 200, "ok"},
		{anyone, m.Address() + "/livez", 200, "ok"},
		{anyone, m.Address() + "/readyz?verbose", 200, "[+]"},
		{anyone, m.Address() + "/metrics", 403, ""},
		{anyone, open.Address() + "/metrics", 200, "taint_manager_leading"},
		{admin, m.Address() + "/metrics", 200, "taint_eviction_controller_pod_deletions_total"},
		{admin, m.Address() + "/metrics", 200, `workqueue_depth{name="noexec_taint_node"}`},
		{admin, m.Address() + "/metrics", 200, "rest_client_requests_total"},
	} {
		code, body := ask(t, c.who, "https://"+c.url)
		// The authority of client certificates comes from the API server, moments after the start.
		for tries := 0; code != c.code && tries < 50; tries++ {
			pause(t, 100*time.Millisecond)
			code, body = ask(t, c.who, "https://"+c.url)
		}
		if code != c.code || !strings.Contains(body, c.says) {
			t.Errorf("%s: got %d, want %d and %q in:\n%.2000s", c.url, code, c.code, c.says, body)
		}
	}
	until(t, "the manager knows to 0.1 s that its clock and the API server's are the same", func() bool {
		ahead := load.Sum(w.managerMetrics(t, m), "taint_manager_clock_ahead_seconds")
		return 0 <= ahead && ahead <= 0.1
	})
}

// refused runs taint-manager, requires it to end with an exit code other than 0, and returns its output.
func (w *world) refused(t *testing.T, flags ...string) string {
	t.Helper()
	m, err := w.Launch(t.Context(), "", "", flags...)
	must(t, err)
	if err := m.Wait(30 * time.Second); err == nil {
		t.Error("it ended with exit code 0")
	}
	log := w.logOf(t, m)
	if strings.Contains(log, "panic") || strings.Contains(log, "goroutine ") {
		t.Errorf("it panicked:\n%s", log)
	}
	return log
}

// adminTLS is like anyone, with the administrator's certificate.
func (w *world) adminTLS(t *testing.T) *tls.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.Kubeconfig())
	must(t, err)
	identity, err := rest.TLSConfigFor(config)
	must(t, err)
	certificate, err := identity.GetClientCertificate(nil)
	must(t, err)
	admin := anyone()
	admin.Certificates = []tls.Certificate{*certificate}
	return admin
}

// anyone is the TLS configuration of a client without a certificate for a manager, which has just created its own.
func anyone() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// ask makes a GET, with headers such as "Accept: text/html".
func ask(t *testing.T, who *tls.Config, url string, headers ...string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: who, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(body)
}

// managerMetrics returns the metrics of a manager.
func (w *world) managerMetrics(t *testing.T, m *testcluster.Manager) (metrics string) {
	t.Helper()
	until(t, "the API server has told the manager the authority of client certificates", func() bool {
		var err error
		metrics, err = load.Metrics(t.Context(), w.Kubeconfig(), m.Address())
		return err == nil
	})
	return metrics
}
