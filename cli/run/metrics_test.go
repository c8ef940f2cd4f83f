package run

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/internal/transport"
	"github.com/taint-manager/taint-manager/policy"
)

// collected is a registry that also keeps what is registered.
type collected struct {
	*prometheus.Registry
	all []prometheus.Collector
}

func (c *collected) Register(collector prometheus.Collector) error {
	c.all = append(c.all, collector)
	return c.Registry.Register(collector)
}

func (c *collected) MustRegister(collectors ...prometheus.Collector) {
	c.all = append(c.all, collectors...)
	c.Registry.MustRegister(collectors...)
}

// programMetrics returns the metrics of a process with a breaker and a rate, so that all of them show.
func programMetrics(t *testing.T) *collected {
	t.Helper()
	s := newSettings()
	s.Guards = policy.Guards{
		Rates:    []policy.Rate{{Name: "cluster", EvictionsPerSecond: 1, Burst: 1}},
		Breakers: []policy.Breaker{{Name: "zones", Taints: []policy.TaintKey{{Key: "a"}}}},
	}
	client := fake.NewClientset()
	p := &process{settings: s, clock: skew.New()}
	registry := &collected{Registry: prometheus.NewRegistry()}
	must(t, p.assemble(transport.Clients{Main: client, Watch: client, Lease: client}, registry))
	return registry
}

var descText = regexp.MustCompile(`fqName: "([^"]*)", help: "((?:[^"\\]|\\.)*)", .*constLabels: \{\}, variableLabels: \{([^}]*)\}`)

// metric is a metric as the reference has it.
type metric struct{ name, kind, labels, help string }

// kinds returns the types of metrics that have a value, by name.
func (c *collected) kinds(t *testing.T) map[string]string {
	t.Helper()
	families, err := c.Gather()
	must(t, err)
	kinds := map[string]string{}
	for _, family := range families {
		kinds[family.GetName()] = strings.ToLower(family.GetType().String())
	}
	return kinds
}

// metrics returns all metrics, sorted by name.
func (c *collected) metrics(t *testing.T) (all []metric) {
	t.Helper()
	kinds := c.kinds(t)
	for _, collector := range c.all {
		descs := make(chan *prometheus.Desc, 100)
		collector.Describe(descs)
		close(descs)
		for d := range descs {
			match := descText.FindStringSubmatch(d.String())
			if match == nil {
				t.Fatalf("not understood: %v", d)
			}
			m := metric{name: match[1], kind: cmp.Or(kinds[match[1]], "counter"), labels: match[3], help: match[2]}
			if _, isVec := collector.(*prometheus.CounterVec); kinds[m.name] == "" && !isVec {
				t.Errorf("%s has no value, and its type is not known", m.name)
			}
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	slices.SortFunc(all, func(a, b metric) int { return cmp.Compare(a.name, b.name) })
	return all
}

const metricsIntro = "# Metrics\n\nThis page is made from the code by `make golden`. [operate.md](../operate.md#metrics) says how to scrape and " +
	"what to watch, and [alerts.md](../runbooks/alerts.md) what to do.\n\n" +
	"The built-in controller has `taint_eviction_controller_pod_deletion_duration_seconds`, too. Before Kubernetes 1.38 its " +
	"values are nanoseconds times 10^9, so compare the two from 1.38 on only.\n\n| metric | type | what it says |\n|---|---|---|\n"

const (
	labelsIntro = "\n## Values of labels\n\n[states.md](states.md) says what each state and cause of a wait means, and [outcomes.md](outcomes.md) what " +
		"each outcome and cause means. `breaker`, `rate` and `policy` have the names of the configuration.\n\n" +
		"| metric | label | values |\n|---|---|---|\n"
	bucketsIntro = "\n## Buckets\n\n| histogram | upper bounds in seconds |\n|---|---|\n"
)

// values returns a row for each label whose values the program knows: those of a set.
func (c *collected) values(t *testing.T) (rows []string) {
	t.Helper()
	row := func(metric, label string, values []string) {
		rows = append(rows, fmt.Sprintf("| `%s` | `%s` | `%s` |\n", metric, label, strings.Join(values, "`, `")))
	}
	var outcomes, causes []string
	for kind := eviction.Accepted; kind.Valid(); kind++ {
		outcomes = append(outcomes, kind.String())
	}
	for _, cause := range eviction.Causes() {
		causes = append(causes, cause.Name)
	}
	row("taint_manager_eviction_calls_total", "outcome", outcomes)
	row("taint_manager_eviction_calls_total", "cause", append(causes, eviction.CauseLabel("a caller's own")))
	row("taint_manager_policy_decisions_total", "mode", []string{string(policy.Enforce), string(policy.Audit)})
	families, err := c.Gather()
	must(t, err)
	for _, label := range []string{"state", "waits_for", "late_by", "cause", "kind", "reason", "result"} {
		for _, family := range families {
			var values []string
			for _, m := range family.GetMetric() {
				for _, pair := range m.GetLabel() {
					if pair.GetName() == label && pair.GetValue() != "" && !slices.Contains(values, pair.GetValue()) {
						values = append(values, pair.GetValue())
					}
				}
			}
			if len(values) > 0 {
				row(family.GetName(), label, values)
			}
		}
	}
	return rows
}

// buckets returns a row for each histogram.
func (c *collected) buckets(t *testing.T) (rows []string) {
	t.Helper()
	families, err := c.Gather()
	must(t, err)
	for _, family := range families {
		h := family.GetMetric()[0].GetHistogram()
		if h == nil {
			continue
		}
		var bounds []string
		for _, b := range h.GetBucket() {
			bounds = append(bounds, fmt.Sprint(b.GetUpperBound()))
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", family.GetName(), strings.Join(bounds, ", ")))
	}
	return rows
}

// TestTheReferenceOfMetricsIsMadeFromTheCode holds docs/reference/metrics.md equal to what the program registers.
func TestTheReferenceOfMetricsIsMadeFromTheCode(t *testing.T) {
	var page strings.Builder
	page.WriteString(metricsIntro)
	registry := programMetrics(t)
	for _, m := range registry.metrics(t) {
		name := m.name
		if m.labels != "" {
			name += "{" + m.labels + "}"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", name, m.kind, m.help)
	}
	page.WriteString(labelsIntro)
	for _, row := range registry.values(t) {
		page.WriteString(row)
	}
	page.WriteString(bucketsIntro)
	for _, row := range registry.buckets(t) {
		page.WriteString(row)
	}
	path := filepath.Join("..", "..", "docs", "reference", "metrics.md")
	if *update {
		must(t, os.WriteFile(path, []byte(page.String()), 0o600))
	}
	written, err := os.ReadFile(path)
	must(t, err)
	if string(written) != page.String() {
		t.Errorf("%s is not current; run `make golden`:\n%s", path, page.String())
	}
}

func TestPromtoolFindsNothingWrongWithTheMetrics(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	switch {
	case err != nil && testing.Short():
		t.Skip("promtool is missing: `make setup` installs it")
	case err != nil:
		t.Fatal("promtool is missing: `make setup` installs it")
	}
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(programMetrics(t), promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	cmd.Stdin = answer.Body
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
