package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// hurried returns the alerts of the chart with times of seconds.
func hurried(t *testing.T) string {
	t.Helper()
	rules, err := os.ReadFile("../../deploy/chart/files/alerts.yaml")
	must(t, err)
	text := string(rules)
	for pattern, short := range map[string]string{`for: \w+`: "for: 1s", `> (300|3600)\b`: "> 3", `\[\d+m\]`: "[3s]"} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, short)
	}
	return text
}

// alertsFile pauses, or does not, and has a policy and a breaker for the scenes.
func alertsFile(paused bool) string {
	return configHead + fmt.Sprintf(`
paused: %v
policies:
- {name: budgets, match: {taints: [{key: budget}]}, method: Evict}
guards:
  breakers:
  - {name: crush, nodeSelector: {matchLabels: {scenario: crush}}, taints: [{key: crush}], maxNodes: 50%%, minNodes: 2, settle: 1s, resetAfter: 1s}
`, paused)
}

const scraper = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: scraper, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: taint-manager-metrics}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: taint-manager-metrics}
subjects: [{kind: ServiceAccount, name: scraper, namespace: default}]
`

// scraperToken permits a service account to scrape by the manifests' role, and returns its token.
func (w *world) scraperToken(t *testing.T) string {
	t.Helper()
	role, err := os.ReadFile("../../deploy/kustomize/metrics.yaml")
	must(t, err)
	must(t, w.Apply(t.Context(), string(role)+"---"+scraper))
	token, err := w.admin.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "scraper", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	return token.Status.Token
}

// certify mounts a new certificate and its key, as the kubelet does, and returns its authority.
func certify(t *testing.T, secret *mount) string {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	must(t, err)
	secret.swap(t, map[string]string{"tls.crt": string(certificate), "tls.key": string(key)})
	return string(certificate)
}

// Prometheus scrapes the program with a token and the certificate's authority. Each alert that pages fires, and clears.
func TestTheAlertsFireAndClearOnARealPrometheus(t *testing.T) {
	t.Parallel() // it mostly waits
	w := newWorld(t, testcluster.Options{WithoutScheduler: true})
	p := startPrometheus(t, hurried(t))
	p.awaitAlerts(t, "before a replica runs", "NobodyLeads")

	files, certs := &mount{dir: t.TempDir()}, &mount{dir: t.TempDir()}
	files.write(t, alertsFile(false))
	p.write(t, "token", w.scraperToken(t))
	p.write(t, "ca.crt", certify(t, certs))
	m := w.manage(t, "--config="+files.file(), "--tls-cert-file="+certs.dir+"/tls.crt", "--tls-private-key-file="+certs.dir+"/tls.key")
	p.write(t, "targets.json", fmt.Sprintf(`[{"targets": [%q]}]`, m.Address()))
	p.awaitAlerts(t, "a replica leads")

	clearScenes := w.playAlerts(t)
	p.awaitAlerts(t, "a webhook hangs, a budget blocks, and nodes are tainted", "BlockedTooLong", "BreakerTripped", "Overdue")
	p.runsTheDashboard(t)
	clearScenes()
	p.awaitAlerts(t, "the causes are gone")

	files.write(t, alertsFile(true))
	p.awaitAlerts(t, "the configuration pauses", "Paused")
	files.write(t, alertsFile(false))
	p.awaitAlerts(t, "the configuration no longer pauses")

	authority := certify(t, certs)
	p.write(t, "ca.crt", authority)
	until(t, "the replica has the new certificate, without a restart", func() bool { return trusts(t, m.Address(), authority) })
	scraped := fmt.Sprintf("up == 1 and timestamp(up) > %d", time.Now().Unix())
	until(t, "Prometheus scrapes on", func() bool { return p.series(t, scraped) == 1 })
}

// trusts reports whether a server has a certificate of this authority.
func trusts(t *testing.T, address, authority string) bool {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(authority))
	connection, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots}}).DialContext(t.Context(), "tcp", address)
	if err == nil {
		_ = connection.Close()
	}
	return err == nil
}

// playAlerts lets a webhook hang, a budget block, and a breaker trip, until the returned function is called.
func (w *world) playAlerts(t *testing.T) (end func()) {
	t.Helper()
	hanging := w.zoned(t, "hanging", "hanging", "")
	pod := hanging.podWith("p", func(p *v1.Pod) { p.Labels = map[string]string{load.HeldLabel: "yes"} })
	hook := w.holdingWebhook(t, load.IdentityOf(pod))
	hanging.taint("gone")

	blocked := w.zoned(t, "blocked", "blocked", "")
	guarded := blocked.podWith("p", func(p *v1.Pod) { p.Labels = map[string]string{"app": blocked.node} })
	blocked.budget(1)
	until(blocked, "the budget knows the pod", func() bool {
		pdb, err := w.admin.PolicyV1().PodDisruptionBudgets("default").Get(t.Context(), blocked.node, metav1.GetOptions{})
		return err == nil && pdb.Status.CurrentHealthy == 1 && pdb.Status.DisruptionsAllowed == 0
	})
	blocked.taint("budget")

	crush := []*scene{w.zoned(t, "crush-0", "crush", ""), w.zoned(t, "crush-1", "crush", "")}
	for _, s := range crush {
		s.pod("p")
		s.taint("crush")
	}
	return func() {
		hook.Release()
		blocked.budget(0)
		for _, s := range crush {
			s.taint()
		}
		for _, p := range []*v1.Pod{pod, guarded} {
			if _, ended := w.deletion(t, p.UID, time.Now().Add(longestBlockedWait+soon)); !ended {
				t.Errorf("%s did not go", p.Name)
			}
		}
	}
}

// runsTheDashboard runs the query of each panel of the chart's dashboard. Those of which nothing exists have no series.
func (p *prometheus) runsTheDashboard(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/chart/files/dashboard.json")
	must(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil || len(dashboard.Panels) < 10 {
		t.Fatalf("%d panels, %v", len(dashboard.Panels), err)
	}
	none := map[string]bool{"Waiting for rates": true}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			expression := strings.NewReplacer("$job", "taint-manager", "$__rate_interval", "5s").Replace(target.Expr)
			if n := p.series(t, expression); (n == 0) != none[panel.Title] {
				t.Errorf("panel %s has %d series: %s", panel.Title, n, expression)
			}
		}
	}
}
