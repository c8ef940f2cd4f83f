package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/machine"
)

// asDemo, in the environment, makes this test binary the demo. All processes that the demo starts inherit its
// value, which identifies them.
const asDemo = "TAINT_MANAGER_TEST_AS_DEMO"

func TestMain(m *testing.M) {
	if os.Getenv(asDemo) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestCtrlCLeavesNothingBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("there is no /proc to look for processes in")
	}
	machine.SkipIfSwapping(t)
	for _, c := range []struct {
		name, when string
		processes  int // that run by then, at least
		exitCode   int
	}{
		{"while it starts", "kube-apiserver is ready", 3, 130}, // the demo, etcd, kube-apiserver
		{"while the story is played", "tainted    ", 7, 130},
		{"while it stays up", "taint-manager logs to", 7, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.exitCode != 0 { // the others wait for this one, whose story must be on time
				t.Parallel()
			}
			marker, temporary := asDemo+"="+t.TempDir(), t.TempDir()
			demo, said := startDemo(t, marker, "TMPDIR="+temporary)
			readUntil(t, said, c.when)
			if all := running(t, marker); len(all) < c.processes {
				t.Errorf("%d processes run, want %d or more: %v", len(all), c.processes, all)
			}
			interrupt(t, demo, said, c.exitCode)
			for pid, command := range running(t, marker) {
				t.Errorf("it left behind: %s", command)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Errorf("it left files behind: %v, %v", left, err)
			}
		})
	}
}

// startDemo runs the demo in a process group of its own, as a terminal does.
func startDemo(t *testing.T, env ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	demo := exec.Command(os.Args[0], "-keep")
	demo.Env = append(os.Environ(), env...)
	demo.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = demo.Process.Kill() })
	return demo, said
}

// readUntil reads the demo's output up to the line that contains the text.
func readUntil(t *testing.T, said io.Reader, text string) {
	t.Helper()
	var all strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), text) {
			return
		}
	}
	t.Fatalf("it ended without saying %q; it said:\n%s", text, all.String())
}

// interrupt does what Ctrl-C does, and waits for the end of the demo.
func interrupt(t *testing.T, demo *exec.Cmd, said io.Reader, exitCode int) {
	t.Helper()
	if err := syscall.Kill(-demo.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(time.Minute, func() { _ = demo.Process.Kill() })
	defer stuck.Stop()
	rest, err := io.ReadAll(said)
	if err != nil {
		t.Fatal(err)
	}
	err = demo.Wait()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if got := demo.ProcessState.ExitCode(); got != exitCode {
		t.Errorf("exit code %d, want %d; it said:\n%s", got, exitCode, rest)
	}
}

// running returns the processes that have the marker in their environment: pid and command line.
func running(t *testing.T, marker string) map[int]string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]string{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // not a process
		}
		environment, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if err != nil || !bytes.Contains(environment, []byte(marker)) {
			continue // it has just ended, or belongs to another user
		}
		command, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		all[pid] = strings.ReplaceAll(string(command[:min(len(command), 80)]), "\x00", " ")
	}
	return all
}
