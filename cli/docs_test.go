package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// consoles matches the parts of the docs that show commands after "$ " with their output.
var consoles = regexp.MustCompile("(?s)```console\n(.*?)```")

// The docs show the program's output. The examples work in the root of the repository.
func TestTheDocsShowWhatIsPrinted(t *testing.T) {
	exampleFolder(t)
	for _, name := range []string{"docs/look-ahead.md", "docs/scripts.md", "docs/policies.md", "docs/reference/devices.md", "README.md"} {
		file := filepath.Join("..", name)
		written := must(os.ReadFile(file))
		shown := 0
		real := consoles.ReplaceAllFunc(written, func(block []byte) []byte {
			shown++
			return append(append([]byte("```console\n"), played(t, "..", block)...), "```"...)
		})
		if shown == 0 {
			t.Errorf("%s shows no commands", file)
		}
		if *update {
			if err := os.WriteFile(file, real, 0o600); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(string(real), string(written)); diff != "" {
			t.Errorf("%s: what is printed (-) and what is shown (+):\n%s", file, diff)
		}
	}
}

// exampleFolder returns a folder with what the examples need: a dump of the shop, and its cluster as the current
// context.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	api := newShopAPI()
	t.Cleanup(api.Close)
	t.Setenv("API", api.URL)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "shop.kubeconfig"))
	if err := prepareShop(api, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// played runs the commands of a block, and returns them with their output.
func played(t *testing.T, dir string, block []byte) []byte {
	var out bytes.Buffer
	for _, line := range regexp.MustCompile(`(?m)^\$ .*$`).FindAllString(string(block), -1) {
		out.WriteString(line + "\n")
		cmd := shell(t, strings.TrimPrefix(line, "$ "))
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out.String())
		}
	}
	return out.Bytes()
}

// shell returns a command of the docs. A manager answers at the port that they forward.
func shell(t *testing.T, line string) *exec.Cmd {
	line = strings.ReplaceAll(line, "http://127.0.0.1:8080", os.Getenv("API")+"/manager-leads")
	return exec.CommandContext(t.Context(), "sh", "-c", line)
}

// yamls matches the examples of files.
var yamls = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// Each example of a configuration in docs/policies.md is, except for its comments, a part of a file in the examples, and
// each of these files is valid.
func TestTheConfigurationsOfTheDocsAreThoseOfTheExamples(t *testing.T) {
	text := must(os.ReadFile(filepath.Join("..", "docs", "policies.md")))
	files, err := filepath.Glob(filepath.Join(examplePolicies, "*.yaml"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var all []string
	for _, file := range files {
		content := must(os.ReadFile(file))
		all = append(all, uncommented(string(content)))
		if out, err := exec.CommandContext(t.Context(), "taint-manager", "config", "validate", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	examples := yamls.FindAllStringSubmatch(string(text), -1)
	if len(examples) < 6 {
		t.Errorf("%d examples", len(examples))
	}
	for _, example := range examples {
		if want := uncommented(example[1]); !slices.ContainsFunc(all, func(file string) bool { return strings.Contains(file, want) }) {
			t.Errorf("no file in %s has this example:\n%s", examplePolicies, want)
		}
	}
}

// uncommented returns the text without comments, and the spaces before them.
func uncommented(text string) string { return regexp.MustCompile(` *#.*`).ReplaceAllString(text, "") }

// Every example of the help works. The one with --exit-code shows that a pod would be evicted, and the one with --wait
// finds a node without taints.
func TestTheExamplesOfTheHelpWork(t *testing.T) {
	dir := exampleFolder(t)
	for _, command := range []string{"plan", "explain", "pending"} {
		help := must(exec.CommandContext(t.Context(), "taint-manager", command, "--help").Output())
		_, after, _ := strings.Cut(string(help), "\nExamples:\n")
		examples := regexp.MustCompile(`(?m)^  (taint-manager `+command+` .*)$`).FindAllStringSubmatch(after, -1)
		if len(examples) < 3 {
			t.Errorf("the help of %s has only %d examples", command, len(examples))
		}
		for _, example := range examples {
			cmd := shell(t, example[1])
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != exitOf(example[1]) {
				t.Errorf("%s: %v, want the exit code %d\n%s", example[1], err, exitOf(example[1]), out)
			}
		}
	}
}

// exitOf returns the exit code of an example in the shop's cluster: with --exit-code a pod would be evicted, and with
// --wait the node has pods that nothing evicts.
func exitOf(example string) int {
	switch {
	case strings.Contains(example, "--exit-code"):
		return 2
	case strings.Contains(example, "--wait"):
		return 1
	}
	return 0
}

// offered matches the parts of the docs that show commands for the reader's own cluster.
var offered = regexp.MustCompile("(?s)```sh\n(.*?)```")

// The commands for the reader's own cluster have valid flags and arguments. They run against the shop's API server,
// except the one that never ends.
func TestTheCommandsThatTheDocsOfferAreTaken(t *testing.T) {
	dir := exampleFolder(t)
	var text []byte
	for _, name := range []string{"look-ahead.md", "scripts.md"} {
		page := must(os.ReadFile(filepath.Join("..", "docs", name)))
		text = append(text, page...)
	}
	tried := 0
	for _, block := range offered.FindAllSubmatch(text, -1) {
		for _, line := range regexp.MustCompile(`(?m)^(?:taint-manager|kubectl taint-manager) .*$`).FindAllString(string(block[1]), -1) {
			if strings.Contains(line, "--watch") {
				continue // tried by scripts
			}
			tried++
			cmd := shell(t, strings.Replace(line, "kubectl taint-manager", "kubectl-taint_manager", 1))
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitOf(line) {
				t.Errorf("%s: %v, want the exit code %d\n%s", line, err, exitOf(line), out)
			}
		}
	}
	if tried < 5 {
		t.Errorf("only %d commands were tried", tried)
	}
}

// dumpRows matches the first cells of the tables of docs/dumps.md, except for that of permissions, and of headings.
var dumpRows = regexp.MustCompile(`(?m)^\| (.*?) \|`)

// Each row of the tables of docs/dumps.md is tried by a script, in which a comment names it.
func TestEachRowAboutDumpsIsTriedByAScript(t *testing.T) {
	page := must(os.ReadFile(filepath.Join("..", "docs", "dumps.md")))
	scripts := must(filepath.Glob(filepath.Join("testdata", "script", "foresight", "*.txtar")))
	var tried []string
	for _, script := range scripts {
		text := must(os.ReadFile(script))
		for _, found := range regexp.MustCompile(`(?m)^# docs/dumps\.md: (.*)$`).FindAllStringSubmatch(string(text), -1) {
			tried = append(tried, found[1])
		}
	}
	var rows []string
	headings := []string{"command", "unreadable", "found", "the file", "missing", "`plan`", "`explain`", "`pending`"}
	for _, found := range dumpRows.FindAllStringSubmatch(string(page), -1) {
		if !slices.Contains(headings, found[1]) {
			rows = append(rows, found[1])
		}
	}
	slices.Sort(rows)
	slices.Sort(tried)
	if diff := cmp.Diff(rows, tried); diff != "" || len(rows) < 30 {
		t.Errorf("the rows of docs/dumps.md (-) and those that scripts name (+):\n%s", diff)
	}
}

// The commands of docs/dumps.md write a dump of a cluster in which a manager runs, and read it.
func TestTheDumpOfTheDocsIsWrittenAndRead(t *testing.T) {
	dir := exampleFolder(t)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "policies.kubeconfig"))
	page := must(os.ReadFile(filepath.Join("..", "docs", "dumps.md")))
	_, dumps, _ := strings.Cut(string(page), "\n## In a dump\n")
	block := offered.FindStringSubmatch(dumps)
	if block == nil {
		t.Fatal("docs/dumps.md has no commands that write a dump")
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", block[1])
	cmd.Dir = dir
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), messages.String())
	}
	for _, want := range []string{"Tainting n1 with maintenance:NoExecute evicts ", ", under the policies of the running manager."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s%s", want, out.String(), messages.String())
		}
	}
}

// A message says where the differences from the built-in controller are listed; the list has every known difference.
func TestTheDifferencesFromTheBuiltinControllerAreListedOnce(t *testing.T) {
	list := must(os.ReadFile(filepath.Join("..", "docs", "reference", "differences.md")))
	compared := must(os.ReadFile(filepath.Join("..", "docs", "lab", "differential.md")))
	_, corrections, _ := strings.Cut(string(compared), "\n## The corrections\n")
	corrections, _, _ = strings.Cut(corrections, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| ([a-z][^|]*) \|`).FindAllStringSubmatch(corrections, -1)
	if len(rows) < 10 {
		t.Fatalf("docs/lab/differential.md lists %d corrections", len(rows))
	}
	for _, row := range rows[1:] { // after the heading
		if n := strings.Count(string(list), "| "+row[1]+" |"); n != 1 {
			t.Errorf("docs/reference/differences.md lists %q %d times", row[1], n)
		}
	}
}
