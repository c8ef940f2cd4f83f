package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// prometheus is a Prometheus that scrapes taint-manager, and the files that it reads.
type prometheus struct {
	dir     string
	address string
}

// prometheusConfig scrapes the targets of a file with a token, and believes the authority of the file ca.crt.
const prometheusConfig = `
global: {scrape_interval: 500ms, scrape_timeout: 450ms, evaluation_interval: 500ms}
rule_files: [alerts.yaml]
scrape_configs:
- job_name: taint-manager
  scheme: https
  authorization: {credentials_file: token}
  tls_config: {ca_file: ca.crt}
  file_sd_configs: [{files: [targets.json], refresh_interval: 500ms}]
`

// startPrometheus runs Debian's Prometheus until the test ends.
func startPrometheus(t *testing.T, rules string) *prometheus {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("prometheus is missing: `make setup` installs it")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &prometheus{dir: t.TempDir(), address: listener.Addr().String()}
	_ = listener.Close()
	p.write(t, "prometheus.yaml", prometheusConfig)
	p.write(t, "alerts.yaml", rules)
	p.write(t, "targets.json", "[]")
	cmd := exec.Command(binary, "--config.file=prometheus.yaml", "--storage.tsdb.path=data", "--log.level=warn", "--web.listen-address="+p.address)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, t.Output(), t.Output()
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	until(t, "Prometheus listens", func() bool {
		connection, err := net.Dial("tcp", p.address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	})
	until(t, "Prometheus is ready", func() bool {
		status, _ := ask(t, nil, "http://"+p.address+"/-/ready")
		return status == http.StatusOK
	})
	return p
}

// write replaces a file, as a whole.
func (p *prometheus) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(p.dir, name)
	must(t, os.WriteFile(path+".tmp", []byte(text), 0o600))
	must(t, os.Rename(path+".tmp", path))
}

// get asks the API, and decodes its data.
func (p *prometheus) get(t *testing.T, path string, into any) {
	t.Helper()
	_, text := ask(t, nil, "http://"+p.address+path)
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %v %s", path, err, text)
	}
	must(t, json.Unmarshal(answer.Data, into))
}

// series returns how many series an expression has now.
func (p *prometheus) series(t *testing.T, expression string) int {
	t.Helper()
	var data struct{ Result []json.RawMessage }
	p.get(t, "/api/v1/query?query="+url.QueryEscape(expression), &data)
	return len(data.Result)
}

// firing returns the names of the alerts that fire, sorted.
func (p *prometheus) firing(t *testing.T) (names []string) {
	t.Helper()
	var data struct {
		Alerts []struct {
			Labels map[string]string
			State  string
		}
	}
	p.get(t, "/api/v1/alerts", &data)
	for _, a := range data.Alerts {
		if a.State == "firing" {
			names = append(names, strings.TrimPrefix(a.Labels["alertname"], "TaintManager"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// awaitAlerts waits until exactly these alerts fire, those apart that the scene does not care for.
func (p *prometheus) awaitAlerts(t *testing.T, when string, want ...string) {
	t.Helper()
	began := time.Now()
	var firing []string
	defer func() {
		if t.Failed() {
			t.Logf("%s: these fire: %v", when, firing)
		}
	}()
	until(t, fmt.Sprintf("%s, these alerts fire: %v", when, want), func() bool {
		firing = slices.DeleteFunc(p.firing(t), func(name string) bool { return name == "TooFewReplicas" })
		return slices.Equal(firing, want)
	})
	t.Logf("%s: %v fire after %v", when, want, time.Since(began).Round(100*time.Millisecond))
}
