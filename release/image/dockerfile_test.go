package image

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/release/build"
	"github.com/taint-manager/taint-manager/release/chart"
)

var root = filepath.Join("..", "..")

// instruction is one of a Dockerfile's, such as USER, with what follows it.
type instruction struct{ name, rest string }

// instructions reads a Dockerfile without escapes, heredocs and parser directives.
func instructions(text string) (all []instruction) {
	text = regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all = append(all, instruction{name, strings.Join(strings.Fields(rest), " ")})
		}
	}
	return all
}

func dockerfile(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, i := range instructions(string(text)) {
		all[i.name] = append(all[i.name], i.rest)
	}
	return all
}

// compiler returns the settings and the command of the last RUN, with the values of its arguments.
func compiler(t *testing.T, runs []string, values map[string]string) (settings, command []string) {
	t.Helper()
	line := os.Expand(runs[len(runs)-1], func(name string) string { return values[name] })
	words := regexp.MustCompile(`([^ "]|"[^"]*")+`).FindAllString(line, -1)
	for n, word := range words {
		words[n] = strings.ReplaceAll(word, `"`, "")
	}
	start := slices.Index(words, "go")
	if start < 0 {
		t.Fatalf("the last RUN does not compile: %q", words)
	}
	return words[:start], words[start:]
}

func TestTheDockerfileCompilesAsTheReleaseDoes(t *testing.T) {
	i := build.Info{Version: "v1.2.3", Commit: "0123456789abcdef", Time: time.Unix(1767312245, 0)}
	cmd, err := build.Command(t.Context(), root, i, build.Target{OS: "linux", Arch: "arm64"}, "/taint-manager")
	if err != nil {
		t.Fatal(err)
	}
	found := dockerfile(t)
	settings, command := compiler(t, found["RUN"], map[string]string{
		"VERSION": i.Version, "COMMIT": i.Commit, "TIME": i.Time.UTC().Format(time.RFC3339), "TARGETOS": "linux", "TARGETARCH": "arm64",
	})
	if diff := cmp.Diff(cmd.Args, command); diff != "" {
		t.Errorf("the command (-release +Dockerfile):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64"}, settings); diff != "" {
		t.Errorf("its settings (-want +Dockerfile):\n%s", diff)
	}
	for _, setting := range settings {
		if !slices.Contains(cmd.Env, setting) {
			t.Errorf("the release compiles without %s", setting)
		}
	}
	pinned := cmd.Env[slices.IndexFunc(cmd.Env, func(s string) bool { return strings.HasPrefix(s, "GOTOOLCHAIN=go") })]
	if want := "--platform=$BUILDPLATFORM golang:" + strings.TrimPrefix(pinned, "GOTOOLCHAIN=go") + " AS build"; found["FROM"][0] != want {
		t.Errorf("got FROM %s, want %s", found["FROM"][0], want)
	}
}

func TestTheDockerfileRunsTheProgramAsTheImageDoes(t *testing.T) {
	version, err := chart.AppVersion(filepath.Join(root, "deploy", "chart"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"ARG":        {"TARGETOS", "TARGETARCH", "VERSION=" + version, "COMMIT=", "TIME="}, // one each: buildah 1.28 reads the first of a line
		"USER":       {user},
		"ENTRYPOINT": {`["/taint-manager"]`},
		"CMD":        nil,
	}
	found := dockerfile(t)
	for name, rest := range want {
		if diff := cmp.Diff(rest, found[name]); diff != "" {
			t.Errorf("%s (-image +Dockerfile):\n%s", name, diff)
		}
	}
}
