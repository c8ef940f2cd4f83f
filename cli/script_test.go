package cli_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/taint-manager/taint-manager/cli"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

// endAtOnce is for programs with the race detector, which otherwise wait for a second at their end for races of
// remaining goroutines. A test that runs a hundred short commands does not benefit from that.
const endAtOnce = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", endAtOnce) // for the programs that tests start
	}
	run := func() { os.Exit(cli.Run(context.Background(), os.Args, os.Stdout, os.Stderr)) }
	testscript.Main(m, map[string]func(){
		"taint-manager": run, "kubectl-taint_manager": run, "kubectl_complete-taint_manager": run,
		"kubectl": kubectl,
	})
}

// must returns the value. There is no error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestScripts runs the program as users do. Each script has a kubeconfig NAME.kubeconfig for each of the fake API
// servers; see fakeAPI.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               setUp,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "lease": lease, "watched": watched},
		Condition:           condition,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func setUp(env *testscript.Env) error {
	api := newFakeAPI()
	env.Defer(api.close)
	env.Values["api"] = api
	busy, free, err := ports()
	if err != nil {
		return err
	}
	env.Defer(func() { _ = busy.Close() })
	env.Setenv("BUSY_PORT", strconv.Itoa(port(busy)))
	env.Setenv("FREE_PORT", strconv.Itoa(free))
	env.Setenv("API", api.server.URL)
	env.Setenv("GORACE", os.Getenv("GORACE"))
	for _, character := range characters {
		if err := writeKubeconfig(filepath.Join(env.WorkDir, character+".kubeconfig"), api.server.URL+"/"+character); err != nil {
			return err
		}
	}
	return writeKubeconfig(filepath.Join(env.WorkDir, "untrusted.kubeconfig"), api.secure.URL)
}

// ports returns a port in use, and one that was free just now.
func ports() (busy net.Listener, free int, err error) {
	if busy, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, 0, err
	}
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, errors.Join(err, busy.Close())
	}
	return busy, port(other), other.Close()
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

func writeKubeconfig(path, server string) error {
	return os.WriteFile(path, fmt.Appendf(nil, `{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
"clusters": [{"name": "c", "cluster": {"server": %q}}], "users": [{"name": "u", "user": {"token": "t"}}]}`, server), 0o600)
}

// exits runs a command and checks its exit code: "exits 2 taint-manager run --oops".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT...]")
	}
	got := 0
	if err, failed := errors.AsType[*exec.ExitError](ts.Exec(args[1], args[2:]...)); failed {
		got = err.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// lease waits until the lease is held or free: "lease held", "lease free"; or checks that no process has requested it:
// "lease untouched".
func lease(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lease held|free|untouched")
	}
	api := ts.Value("api").(*fakeAPI)
	if args[0] == "untouched" {
		if n := api.leases.Load(); n > 0 {
			ts.Fatalf("%d requests for the lease", n)
		}
		return
	}
	for {
		select {
		case state := <-api.lease:
			if state == args[0] {
				return
			}
		case <-time.After(time.Minute): //nolint:forbidigo // for the program, a process of its own
			ts.Fatalf("the lease is not %s after a minute", args[0])
		}
	}
}

// watched waits until the pods are watched.
func watched(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: watched")
	}
	select {
	case <-ts.Value("api").(*fakeAPI).watches:
	case <-time.After(time.Minute): //nolint:forbidigo // for the program, a process of its own
		ts.Fatalf("the pods are not watched after a minute")
	}
}

// condition implements [token]: these tests run in a pod with a service account.
func condition(name string) (bool, error) {
	if name != "token" {
		return false, fmt.Errorf("there is no condition %q", name)
	}
	_, err := os.Stat("/var/run/secrets/kubernetes.io/serviceaccount/token")
	return err == nil, nil
}
