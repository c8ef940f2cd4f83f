// Package build compiles the program. The same commit always yields the same bytes.
package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

// Target is a platform, with the names that Go uses.
type Target struct{ OS, Arch string }

// String returns the target in the form linux/amd64.
func (t Target) String() string { return t.OS + "/" + t.Arch }

// Binary returns the name of the program's file.
func (t Target) Binary() string {
	if t.OS == "windows" {
		return "taint-manager.exe"
	}
	return "taint-manager"
}

// Info is the version information of the program.
type Info struct {
	Version string // with the v, such as v1.2.3
	Commit  string
	Time    time.Time // of the commit
}

var semver = regexp.MustCompile(`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$`)

// Validate returns an error for a version that charts and registries do not accept.
func (i Info) Validate() error {
	if !semver.MatchString(i.Version) {
		return fmt.Errorf("VERSION=%s is refused: it takes a semantic version with a v and without a plus sign, such as v1.2.3 or v1.2.3-rc.1", i.Version)
	}
	return nil
}

// Compile builds the program from the repository at root into the file output. It compiles with the running Go and
// ignores the settings of this machine.
func Compile(ctx context.Context, root string, i Info, t Target, output string) error {
	output, err := filepath.Abs(output)
	if err != nil {
		return fmt.Errorf("the path of the binary: %w", err)
	}
	const version = "k8s.io/component-base/version"
	flags := fmt.Sprintf("-s -w -buildid= -X %[1]s.gitVersion=%[2]s -X %[1]s.gitCommit=%[3]s -X %[1]s.buildDate=%[4]s",
		version, i.Version, i.Commit, i.Time.UTC().Format(time.RFC3339))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-tags=grpcnotrace",
		"-ldflags="+flags, "-o", output, "./cmd/taint-manager")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.OS, "GOARCH="+t.Arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off", "GOTOOLCHAIN="+runtime.Version())
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling for %s: %w\n%s", t, err, said)
	}
	return nil
}

// CheckGo returns an error unless the running Go, as [runtime.Version] names it, is the one that the repository at root
// pins: another Go may compress and compile to other bytes.
func CheckGo(root, running string) error {
	pinned, err := toolchain(root)
	if err != nil {
		return err
	}
	if running != pinned {
		return fmt.Errorf("this program runs with %s, and go.mod pins %s, with which everybody gets the same bytes: run make image or make release, or set GOTOOLCHAIN=%[2]s", running, pinned)
	}
	return nil
}

func toolchain(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("the toolchain: %w", err)
	}
	line := regexp.MustCompile(`(?m)^toolchain (\S+)$`).FindSubmatch(text)
	if line == nil {
		return "", errors.New("the toolchain: go.mod has no line that begins with toolchain")
	}
	return string(line[1]), nil
}
