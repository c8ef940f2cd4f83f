package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// answer is a command of a page, and what the page says that the command prints, with "…" for what differs.
type answer struct{ command, prints string }

// answers returns the answers under a heading of docs/runbooks/troubleshooting.md.
func answers(t *testing.T, heading string) (list []answer) {
	t.Helper()
	for _, block := range blocks(t, "runbooks/troubleshooting.md", heading, "console") {
		for _, one := range strings.Split(block, "$ ")[1:] {
			command, prints, _ := strings.Cut(one, "\n")
			a := answer{command, prints}
			a.says(t)
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		t.Fatalf("docs/runbooks/troubleshooting.md has no answer to %s", heading)
	}
	return list
}

// pattern matches an output that has the lines of the answer, in this order.
func (a answer) pattern() *regexp.Regexp {
	var lines []string
	for line := range strings.Lines(a.prints) {
		words := strings.Join(strings.Fields(line), " ")
		lines = append(lines, strings.ReplaceAll(regexp.QuoteMeta(words), "…", ".*"))
	}
	return regexp.MustCompile("(?m)^" + strings.Join(lines, "$(?s:.*)^") + "$")
}

// literal is how many characters of a line an answer says at least, so that no other output passes for it.
const literal = 15

// says fails the test if an answer prints nothing, or has a line that says little.
func (a answer) says(t *testing.T) {
	t.Helper()
	if a.prints == "" {
		t.Errorf("docs/runbooks/troubleshooting.md does not say what this prints: %s", a.command)
	}
	for line := range strings.Lines(a.prints) {
		if n := len(strings.Join(strings.Fields(strings.ReplaceAll(line, "…", "")), "")); n < literal {
			t.Errorf("docs/runbooks/troubleshooting.md says with %d characters what this prints: %s\n%s", n, a.command, line)
		}
	}
}

// narrow joins the columns of a table by one space each.
func narrow(text string) string {
	return regexp.MustCompile(` *\n`).ReplaceAllString(regexp.MustCompile(` +`).ReplaceAllString(text, " "), "\n")
}

// troubled is a cluster in which each problem exists that the page explains.
type troubled struct {
	*world
	m *testcluster.Manager
}

// answers runs the commands of a section until they print what the page says.
func (w *troubled) answers(t *testing.T, heading string) {
	t.Helper()
	for _, a := range answers(t, heading) {
		command := strings.ReplaceAll(a.command, "http://localhost:8080", strings.TrimSuffix(w.m.Page(), "/"))
		var out string
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("$ %s\n%s", command, out)
			}
		})
		until(t, "docs/runbooks/troubleshooting.md has what it prints: "+a.command, func() bool {
			out = w.shell(t, command)
			return a.pattern().MatchString(narrow(out))
		})
	}
}

const troubledFile = configHead + `
policies:
- {name: budgets, match: {taints: [{key: maintenance}]}, method: Evict}
guards:
  rates: [{name: racks, taints: [{key: rack}], evictionsPerSecond: 0.001, burst: 1}]
`

func named(name string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Name, p.Labels = name, map[string]string{"app": name} }
}

// newTroubled installs the program by its chart, permits the requests of its policy, and runs it.
func newTroubled(t *testing.T) *troubled {
	t.Helper()
	w := newWorld(t, testcluster.Options{})
	w.waitForNoPods(t)
	newHelm(t, w).helm(t, documented(t, "kube-system")...)
	w.kubectl(t, "patch", "clusterrole", "taint-manager-evictions", "--type=json",
		`-p=[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["pods/eviction"],"verbs":["create"]}}]`)
	m := w.launchUnpermitted(t, append([]string{"--config=" + configFile(t, troubledFile)}, election...)...)
	w.waitForHolder(t)
	return &troubled{w, m}
}

// TestTheAnswersOfTheTroubleshootingPageAreWhatTheCommandsPrint lets happen what the page is asked about, and runs the
// commands of the runbook in the same cluster.
func TestTheAnswersOfTheTroubleshootingPageAreWhatTheCommandsPrint(t *testing.T) {
	t.Parallel()
	w := newTroubled(t)
	t.Run("worker-1", func(t *testing.T) {
		s := w.scene(t)
		gone := s.podWith("", named("web-0"))
		s.podWith("", named("cache-0"), bears("gpu", 3600))
		s.taint("gpu")
		s.event(gone, "Marking for deletion")
		w.answers(t, "Why was my pod evicted?")
	})
	t.Run("worker-2", func(t *testing.T) {
		s := w.scene(t)
		s.podWith("", named("db-0"))
		must(t, s.Apply(s.Context(), fmt.Sprintf(budgetManifest, "db-0", 1)))
		s.taint("maintenance")
		w.answers(t, "Why is my pod not evicted?")
	})
	t.Run("worker-3", func(t *testing.T) {
		s := w.scene(t)
		s.podWith("", named("batch-0"))
		s.taint("rack")
		w.answers(t, "Why is it late?")
	})
	t.Run("the runbook", w.runbook)
	t.Run("stop", func(t *testing.T) { w.answers(t, "Stop all evictions") })
	t.Run("worker-4", func(t *testing.T) {
		w.kubectl(t, "delete", "pod", "batch-0", "db-0") // the manager looks at one pod a minute
		original, err := w.LaunchOriginal(t.Context())
		must(t, err)
		t.Cleanup(func() { must(t, original.Stop()) })
		s := w.on(t, "worker-4") // without a kubelet, so that its pods terminate for a while
		_, err = w.admin.CoreV1().Nodes().Create(t.Context(), load.ReadyNode(s.node), metav1.CreateOptions{})
		must(t, err)
		s.podWith("", func(p *v1.Pod) { named("twice-0")(p); *p.Spec.TerminationGracePeriodSeconds = 30 }, bears("rack", 3))
		s.taint("rack")
		w.answers(t, "Both controllers evict")
	})
	t.Run("worker-5", func(t *testing.T) {
		s := w.scene(t)
		s.taint("gpu")
		s.untilRecorded("gpu")
		w.m.Kill() // it keeps the lease
		s.podWith("", named("late-0"))
		w.answers(t, "No pod is evicted")
	})
}

// runbook runs the commands of docs/runbooks/alerts.md, which must succeed, against a program whose ConfigMap has the key paused.
func (w *troubled) runbook(t *testing.T) {
	w.kubectl(t, "-n", "kube-system", "patch", "cm", "taint-manager", "--type=merge", `-p={"data":{"paused":"true"}}`)
	w.kubectl(t, "-n", "kube-system", "patch", "cm", "taint-manager", "--type=merge", "-p="+fmt.Sprintf(`{"data":{"config.yaml":%q}}`, troubledFile))
	for _, block := range append(commands(t, "runbooks/alerts.md", "Scrape"), commands(t, "runbooks/alerts.md", "Runbook")...) {
		if command, forwards := strings.CutPrefix(block, "kubectl -n kube-system port-forward "); forwards {
			pod, _, _ := strings.Cut(w.state(t).holder, "_")
			if out := w.shell(t, "echo "+command); out != "pod/"+pod+" 8080\n" {
				t.Errorf("forwarded is %s, and the pod of the leader is %s", out, pod)
			}
			continue
		}
		w.shell(t, strings.ReplaceAll(block, "http://localhost:8080", strings.TrimSuffix(w.m.Page(), "/")))
	}
	config, err := w.admin.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
	must(t, err)
	if _, paused := config.Data["paused"]; paused {
		t.Errorf("the runbook leaves the key paused: %v", config.Data)
	}
}
