package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// consoles are the parts of the docs that show commands after "$ ", with what they print.
var consoles = regexp.MustCompile("(?s)```console\n(.*?)```")

// The docs show what the program prints.
func TestTheDocsShowWhatIsPrinted(t *testing.T) {
	dir := exampleFolder(t)
	for _, file := range []string{filepath.Join("..", "docs", "plan.md"), filepath.Join("..", "docs", "pending.md"), filepath.Join("..", "README.md")} {
		written, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		real := consoles.ReplaceAllFunc(written, func(block []byte) []byte {
			shown++
			return append(append([]byte("```console\n"), played(t, dir, block)...), "```"...)
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

// exampleFolder has what the examples need: a dump of the shop, and its cluster as the current context.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	api, err := newShopAPI()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "shop.kubeconfig"))
	if err := prepareShop(api, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// played runs the commands of a block, and writes them with what they print.
func played(t *testing.T, dir string, block []byte) []byte {
	var out bytes.Buffer
	for _, line := range regexp.MustCompile(`(?m)^\$ .*$`).FindAllString(string(block), -1) {
		out.WriteString(line + "\n")
		cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.TrimPrefix(line, "$ "))
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out.String())
		}
	}
	return out.Bytes()
}

// Every example of the help works. That with --exit-code shows that something would go.
func TestTheExamplesOfTheHelpWork(t *testing.T) {
	dir := exampleFolder(t)
	for _, command := range []string{"plan", "explain", "pending"} {
		help, err := exec.CommandContext(t.Context(), "taint-manager", command, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		examples := regexp.MustCompile(`(?m)^  (taint-manager `+command+` .*)$`).FindAllStringSubmatch(string(help), -1)
		if len(examples) < 4 { // the first is the usage
			t.Errorf("the help of %s has only %d examples", command, len(examples))
		}
		for _, example := range examples[1:] {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", example[1])
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			want := 0
			if strings.Contains(example[1], "--exit-code") {
				want = 2
			}
			if code := cmd.ProcessState.ExitCode(); code != want {
				t.Errorf("%s: %v, want the exit code %d\n%s", example[1], err, want, out)
			}
		}
	}
}
