package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// answer is a command of a page, and what the page says that the command prints, with "…" for what differs.
type answer struct{ command, prints string }

// answers returns the answers under a heading of docs/troubleshooting.md.
func answers(t *testing.T, heading string) (list []answer) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "troubleshooting.md"))
	must(t, err)
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("docs/troubleshooting.md has no section %s", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(section, -1) {
		for _, one := range strings.Split(block[1], "$ ")[1:] {
			command, prints, _ := strings.Cut(one, "\n")
			list = append(list, answer{command, prints})
		}
	}
	if len(list) == 0 {
		t.Fatalf("docs/troubleshooting.md has no answer to %s", heading)
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

// narrow joins the columns of a table by one space each.
func narrow(text string) string {
	return regexp.MustCompile(` *\n`).ReplaceAllString(regexp.MustCompile(` +`).ReplaceAllString(text, " "), "\n")
}

// troubled is a cluster in which everything is wrong that docs/troubleshooting.md answers.
type troubled struct {
	*world
	m *testcluster.Manager
}

// answers runs the commands of a section until they print what the page says.
func (w *troubled) answers(t *testing.T, heading string) {
	t.Helper()
	s := &scene{T: t, world: w.world}
	for _, a := range answers(t, heading) {
		command := strings.ReplaceAll(a.command, "http://localhost:8080", strings.TrimSuffix(w.m.Page(), "/"))
		var out string
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("$ %s\n%s", command, out)
			}
		})
		s.until("docs/troubleshooting.md has what it prints: "+a.command, func() bool {
			out = w.shell(t, command)
			return a.pattern().MatchString(narrow(out))
		})
	}
}

const troubledFile = configHead + `
policies:
- {name: budgets, match: {taints: [{key: maintenance}]}, method: Evict}
guards:
  rates: [{name: slowly, match: {taints: [{key: rack}]}, evictionsPerSecond: 0.001, burst: 1}]
`

func named(name string) func(*v1.Pod) {
	return func(p *v1.Pod) { p.Name, p.Labels = name, map[string]string{"app": name} }
}

// TestTheAnswersOfTheTroubleshootingPageAreWhatTheCommandsPrint lets happen what the page is asked about.
func TestTheAnswersOfTheTroubleshootingPageAreWhatTheCommandsPrint(t *testing.T) {
	t.Parallel()
	plain := newWorld(t, testcluster.Options{})
	plain.waitForNoPods(t)
	newHelm(t, plain).helm(t, documented(t, "kube-system")...)
	files := &mount{dir: t.TempDir()}
	files.write(t, troubledFile)
	w := &troubled{plain, plain.launchUnpermitted(t, append([]string{"--config=" + files.file()}, election...)...)}
	(&scene{T: t, world: plain}).until("it leads", func() bool { return w.isLed(t) })

	t.Run("n1", func(t *testing.T) {
		s := w.scene(t)
		gone := s.podWith("", named("web-0"))
		s.podWith("", named("cache-0"), bears("gpu", 3600))
		s.taint("gpu")
		s.event(gone, "Marking for deletion")
		w.answers(t, "Why did my pod go?")
	})
	t.Run("n2", func(t *testing.T) {
		s := w.scene(t)
		s.podWith("", named("db-0"))
		must(t, s.Apply(s.Context(), fmt.Sprintf(budgetManifest, "db-0", 1)))
		s.taint("maintenance")
		w.answers(t, "Why does my pod not go?")
	})
	t.Run("n3", func(t *testing.T) {
		s := w.scene(t)
		s.podWith("", named("batch-0"))
		s.podWith("", named("batch-1"))
		s.taint("rack")
		w.answers(t, "Why does it go so late?")
	})
	t.Run("n4", func(t *testing.T) {
		w.answers(t, "It evicts too much: how do I stop it?")
	})
	t.Run("n5", func(t *testing.T) {
		original, err := w.LaunchOriginal(t.Context())
		must(t, err)
		s := w.scene(t)
		s.podWith("", named("twice-0"), bears("disk", 3))
		s.taint("disk")
		w.answers(t, "Do two evict?")
		must(t, original.Stop())
	})
	w.m.Kill() // it keeps the lease
	t.Run("n6", func(t *testing.T) { w.answers(t, "Why does nothing go?") })
}
