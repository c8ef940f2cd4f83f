package dist

import (
	"io"
	"log"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/rhysd/actionlint"
)

var workflow = filepath.Join(root, ".github", "workflows", "release.yaml")

func TestActionlintFindsNothingInTheWorkflowOfARelease(t *testing.T) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.LintFile(workflow, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range found {
		t.Error(problem)
	}
}

// users are modules of tools/go.mod, whose contents tools/go.sum has. Their maintainers use the actions by these digests.
var users = []string{"github.com/golangci/golangci-lint/v2", "github.com/securego/gosec/v2"}

func TestEachActionIsPinnedByADigestThatItsUsersHave(t *testing.T) {
	var known strings.Builder
	for _, module := range users {
		download := exec.CommandContext(t.Context(), "go", "mod", "download", module)
		download.Dir = filepath.Join(root, "tools")
		if said, err := download.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module)
		list.Dir = filepath.Join(root, "tools")
		dir, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		known.Write(read(t, filepath.Join(strings.TrimSpace(string(dir)), ".github", "workflows", "release.yml")))
	}
	pinned := regexp.MustCompile(`uses: (\S+@[0-9a-f]{40}) # v`)
	uses := regexp.MustCompile(`uses: .*`).FindAllString(string(read(t, workflow)), -1)
	if len(uses) < 4 {
		t.Errorf("the workflow uses %d actions", len(uses))
	}
	for _, use := range uses {
		if m := pinned.FindStringSubmatch(use); m == nil || !strings.Contains(known.String(), "uses: "+m[1]+" ") {
			t.Errorf("%q is not an action and digest that %v use", use, users)
		}
	}
}

// A registry takes no capitals, and the name of a repository's owner may have some.
func TestTheImageOfAReleaseHasItsOwnersNameInLowerCase(t *testing.T) {
	text := string(read(t, workflow))
	step := regexp.MustCompile(`run: (echo "IMAGE=.*)`).FindStringSubmatch(text)
	if step == nil || strings.Count(text, "repository_owner") != 1 || !strings.Contains(text, "OWNER: ${{ github.repository_owner }}") {
		t.Fatal("no step of the workflow names the image by OWNER")
	}
	file := filepath.Join(t.TempDir(), "env")
	command := exec.CommandContext(t.Context(), "bash", "-e", "-c", step[1])
	command.Env = []string{"OWNER=Some-Team", "GITHUB_ENV=" + file}
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if got, want := string(read(t, file)), "IMAGE=ghcr.io/some-team/taint-manager\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// publishes calls what the workflow calls, for a registry on loopback.
func publishes(t *testing.T, out string) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	team := strings.TrimPrefix(server.URL, "http://") + "/team/"
	command := exec.CommandContext(t.Context(), "make", "-C", root, "publish", "DIST="+out, "VERSION=v1.2.3", "IMAGE="+team+"taint-manager", "INSECURE=1")
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	lines := strings.Split(string(read(t, filepath.Join(out, "digests.txt"))), "\n")
	if want := strings.TrimPrefix(digest(t, filepath.Join(out, "image.tar")), "sha256:") + "  " + team + "taint-manager"; lines[0] != want {
		t.Errorf("got %q, want %q", lines[0], want)
	}
	if !regexp.MustCompile(`^[0-9a-f]{64}  ` + regexp.QuoteMeta(team+"charts/taint-manager") + `$`).MatchString(lines[1]) {
		t.Errorf("got %q for the chart", lines[1])
	}
	for _, line := range lines[:2] {
		sum, repository, _ := strings.Cut(line, "  ")
		reference, err := name.NewDigest(repository + "@sha256:" + sum)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := remote.Head(reference); err != nil {
			t.Errorf("the registry lacks %s: %v", reference, err)
		}
	}
}
