package cli_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taint-manager/taint-manager/cli"
)

// full is an output on a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestACommandWhoseOutputCannotBeWrittenFails(t *testing.T) {
	file := filepath.Join("..", "internal", "config", "defaults.yaml")
	for _, line := range []string{"config validate " + file, "config defaults", "config schema", "version", "help", "plan --help", "completion bash", "--version"} {
		var stderr bytes.Buffer
		args := append([]string{"taint-manager"}, strings.Fields(line)...)
		if code := cli.Run(context.Background(), args, full{}, &stderr); code != cli.CannotRun || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%s: got exit code %d and %q", line, code, stderr.String())
		}
		if code := cli.Run(context.Background(), args, &bytes.Buffer{}, &stderr); code != cli.OK {
			t.Errorf("%s: got exit code %d where there is space", line, code)
		}
	}
}
