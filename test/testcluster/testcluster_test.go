package testcluster

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// helperVariable makes this test binary a program that starts a cluster and waits until it is killed.
const helperVariable = "TESTCLUSTER_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) != "" {
		fmt.Fprintln(os.Stderr, startAndWait())
		os.Exit(1)
	}
	flag.Parse()
	if testing.Short() {
		fmt.Println("the tests of the real control plane are left out: -short")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startAndWait prints the process ids of a cluster, one of which it pauses.
func startAndWait() error {
	c, err := Start(context.Background(), Options{})
	if err != nil {
		return err
	}
	for _, component := range c.components {
		fmt.Println(component.name, component.Pid())
	}
	if err := c.Component(Scheduler).Pause(); err != nil {
		return err
	}
	fmt.Println("ready")
	select {}
}

func TestCluster(t *testing.T) {
	t.Parallel()
	began := time.Now()
	c := start(t, Options{AuditLevel: "Metadata"})
	took := time.Since(began)
	t.Logf("started in %.1f s", took.Seconds())
	if took > 20*time.Second {
		t.Errorf("started in %v, want less than 20 s", took)
	}
	apply(t, c, SimulatedNode("node-a")+SimulatedNode("node-b"))
	for _, test := range []struct {
		sentence string
		check    func(*testing.T, *Cluster)
	}{
		{"nodes become ready", nodesBecomeReady},
		{"a pod gets running and ready and is described", podRuns},
		{"a deleted pod ends with 143 after its grace period and goes", deletedPodGoes},
		{"a deleted pod with a finalizer ends and stays until the finalizer is gone", finalizerHolds},
		{"a job's pod keeps running", jobPodKeepsRunning},
		{"a node can be told to be not ready", nodeBecomesNotReady},
		{"kubectl and the server have this version", versionsAgree},
		{"a user has no permission but those given", userIsHeldToRBAC},
		{"the audit log names who did what", auditLogIsWritten},
		{"taints and tolerations may compare numbers", tolerationsCompare},
		{"the taint eviction controller is off", taintEvictionIsOff},
		{"a killed component starts again on its data", componentRestarts},
		{"a paused component answers when it is resumed", componentResumes},
	} {
		t.Run(test.sentence, func(t *testing.T) { test.check(t, c) })
	}
}

func nodesBecomeReady(t *testing.T, c *Cluster) {
	kubectl(t, c, "wait", "node", "--all", "--for=condition=Ready", "--timeout=20s")
}

func podRuns(t *testing.T, c *Cluster) {
	apply(t, c, pod("runs", ""))
	kubectl(t, c, "wait", "pod/runs", "--for=jsonpath={.spec.nodeName}", "--timeout=20s")
	bound := time.Now()
	kubectl(t, c, "wait", "pod/runs", "--for=condition=Ready", "--timeout=5s")
	t.Logf("ready within %.1f s of being bound", time.Since(bound).Seconds())
	if phase := kubectl(t, c, "get", "pod/runs", "-o", "jsonpath={.status.phase}"); phase != "Running" {
		t.Errorf("the pod is %s, want Running", phase)
	}
	description := kubectl(t, c, "describe", "pod", "runs")
	for _, want := range []string{"Status:           Running", "default-scheduler", "Successfully assigned default/runs"} {
		if !strings.Contains(description, want) {
			t.Errorf("kubectl describe pod does not say %q:\n%s", want, description)
		}
	}
}

func deletedPodGoes(t *testing.T, c *Cluster) {
	apply(t, c, pod("goes", "terminationGracePeriodSeconds: 3"))
	kubectl(t, c, "wait", "pod/goes", "--for=condition=Ready", "--timeout=20s")
	history := watch(t, c, "goes")
	deleted := time.Now()
	kubectl(t, c, "delete", "pod", "goes", "--wait=false")
	var last string
	for line := range history {
		if strings.HasPrefix(line, "DELETED") {
			break
		}
		last = line
	}
	if want := "MODIFIED Failed 143"; last != want {
		t.Errorf("before it went the pod was %q, want %q", last, want)
	}
	// The deletionTimestamp is in whole seconds, cut off.
	if took := time.Since(deleted); took < 2*time.Second || took > 6*time.Second {
		t.Errorf("the pod went after %v, want about 3 s", took)
	}
}

func finalizerHolds(t *testing.T, c *Cluster) {
	held := strings.Replace(pod("held", "terminationGracePeriodSeconds: 1"),
		"name: held", "name: held\n  finalizers: [example.com/held]", 1)
	apply(t, c, held)
	kubectl(t, c, "wait", "pod/held", "--for=condition=Ready", "--timeout=20s")
	kubectl(t, c, "delete", "pod", "held", "--wait=false")
	kubectl(t, c, "wait", "pod/held", "--for=jsonpath={.metadata.deletionGracePeriodSeconds}=0", "--timeout=20s")
	state := kubectl(t, c, "get", "pod/held", "-o", "jsonpath={.status.phase} {.metadata.finalizers}")
	if want := `Failed ["example.com/held"]`; state != want {
		t.Errorf("the held pod is %s, want %s", state, want)
	}
	kubectl(t, c, "patch", "pod/held", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	kubectl(t, c, "wait", "pod/held", "--for=delete", "--timeout=20s")
}

func jobPodKeepsRunning(t *testing.T, c *Cluster) {
	apply(t, c, `apiVersion: batch/v1
kind: Job
metadata: {name: works}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
`)
	kubectl(t, c, "wait", "job/works", "--for=jsonpath={.status.ready}=1", "--timeout=20s")
	// Nothing may happen here; the stages have no delay to wait for.
	time.Sleep(2 * time.Second) //nolint:forbidigo // kwok, in whose stages nothing is to happen that could be waited for
	if active := kubectl(t, c, "get", "job/works", "-o", "jsonpath={.status.ready} {.status.succeeded}"); active != "1 " {
		t.Errorf("the job's ready and succeeded pods are %q, want 1 and none", active)
	}
}

func nodeBecomesNotReady(t *testing.T, c *Cluster) {
	kubectl(t, c, "annotate", "node", "node-b", "testcluster/ready=false")
	kubectl(t, c, "wait", "node/node-b", "--for=condition=Ready=False", "--timeout=20s")
	kubectl(t, c, "wait", "node/node-b", "--for=jsonpath={.spec.taints[?(@.effect=='NoExecute')].key}=node.kubernetes.io/not-ready", "--timeout=20s")
	kubectl(t, c, "annotate", "node", "node-b", "testcluster/ready-")
	kubectl(t, c, "wait", "node/node-b", "--for=condition=Ready", "--timeout=20s")
}

func versionsAgree(t *testing.T, c *Cluster) {
	version := kubectl(t, c, "version")
	if strings.Count(version, fmt.Sprintf("v1.%d.", c.Minor())) != 2 || strings.Contains(version, "WARNING") {
		t.Errorf("kubectl version says:\n%s", version)
	}
}

func userIsHeldToRBAC(t *testing.T, c *Cluster) {
	path, err := c.KubeconfigFor("system:serviceaccount:kube-system:somebody", "system:serviceaccounts")
	if err != nil {
		t.Fatal(err)
	}
	can := func() string {
		out, _ := c.Kubectl(t.Context(), "--kubeconfig="+path, "auth", "can-i", "delete", "pods").Output()
		return strings.TrimSpace(string(out))
	}
	if answer := can(); answer != "no" {
		t.Errorf("may somebody delete pods? %q, want no", answer)
	}
	kubectl(t, c, "create", "clusterrolebinding", "somebody", "--clusterrole=edit", "--serviceaccount=kube-system:somebody")
	if answer := can(); answer != "yes" {
		t.Errorf("may somebody delete pods after the binding? %q, want yes", answer)
	}
}

func auditLogIsWritten(t *testing.T, c *Cluster) {
	apply(t, c, pod("audited", "nodeName: node-a"))
	kubectl(t, c, "delete", "pod", "audited", "--now", "--wait=false")
	log, err := os.ReadFile(c.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, `"verb":"delete"`) && strings.Contains(line, "/pods/audited") &&
			strings.Contains(line, `"username":"admin"`) {
			return
		}
	}
	t.Error("the audit log has no line for the deletion")
}

func tolerationsCompare(t *testing.T, c *Cluster) {
	if c.Minor() < 35 {
		t.Skipf("Kubernetes 1.%d has no Lt and Gt in tolerations: since 1.35", c.Minor())
	}
	apply(t, c, pod("compares", `tolerations: [{key: load, operator: Gt, value: "5", effect: NoExecute}]`))
}

func taintEvictionIsOff(t *testing.T, c *Cluster) {
	apply(t, c, pod("stays", "nodeName: node-b"))
	kubectl(t, c, "wait", "pod/stays", "--for=condition=Ready", "--timeout=20s")
	kubectl(t, c, "taint", "node", "node-b", "a=b:NoExecute")
	time.Sleep(2 * time.Second) //nolint:forbidigo // the original would evict within milliseconds
	if stamp := kubectl(t, c, "get", "pod/stays", "-o", "jsonpath={.metadata.deletionTimestamp}"); stamp != "" {
		t.Errorf("the pod was deleted at %s", stamp)
	}
}

func componentRestarts(t *testing.T, c *Cluster) {
	for _, name := range []string{Etcd, APIServer} {
		component := c.Component(name)
		component.Kill()
		began := time.Now()
		if err := component.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if at := component.Started(); at.Before(began) || at.After(time.Now()) {
			t.Errorf("%s was started at %v, want after %v", name, at, began)
		}
	}
	kubectl(t, c, "get", "pod", "runs")
}

func componentResumes(t *testing.T, c *Cluster) {
	server := c.Component(APIServer)
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	if out, err := c.Kubectl(t.Context(), "get", "pod", "runs", "--request-timeout=1s").CombinedOutput(); err == nil {
		t.Errorf("the paused server answered:\n%s", out)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	kubectl(t, c, "get", "pod", "runs")
}

func TestWithoutTheControllerManagerPodsAreAdmitted(t *testing.T) {
	t.Parallel()
	c := start(t, Options{WithoutControllerManager: true, WithoutScheduler: true, WithoutNodes: true})
	apply(t, c, pod("pending", ""))
	if c.Component(ControllerManager) != nil || c.Component(Nodes) != nil {
		t.Error("the cluster has components that were not wanted")
	}
}

func TestNothingIsLeftAfterStop(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	pids := pidsOf(c)
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	for name, pid := range pids {
		if alive(pid) {
			t.Errorf("%s is alive", name)
		}
	}
	if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
	if err := c.Stop(); err != nil {
		t.Errorf("the second stop: %v", err)
	}
}

func TestComponentsDieWithAKilledParent(t *testing.T) {
	t.Parallel()
	helper := exec.Command(os.Args[0])
	helper.Env = append(os.Environ(), helperVariable+"=1", "TMPDIR="+t.TempDir())
	helper.Stderr = os.Stderr
	out, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	pids := readPids(t, bufio.NewScanner(out))
	_ = helper.Process.Kill()
	_ = helper.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for name, pid := range pids {
		for alive(pid) && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond) //nolint:forbidigo // for the end of real processes
		}
		if alive(pid) {
			t.Errorf("%s outlived the process that started it", name)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func TestAMissingBinaryIsNamedWithTheRemedy(t *testing.T) {
	t.Setenv(VersionVariable, "")
	dir := inCheckout(t)
	c, err := Start(t.Context(), Options{})
	if err == nil {
		_ = c.Stop()
		t.Fatal("the cluster started without binaries")
	}
	for _, want := range []string{filepath.Join(dir, "bin", "controlplane"), "is missing", "run `make bin/controlplane`"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q does not say %q", err, want)
		}
	}
}

func TestAnotherVersionOfKubernetesHasABinaryOfItsOwn(t *testing.T) {
	t.Setenv(VersionVariable, "1.32")
	inCheckout(t)
	_, err := Start(t.Context(), Options{})
	if want := "is missing: run `make bin/controlplane-1.32`"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}

func TestWhatIsNoVersionOfKubernetesIsRefused(t *testing.T) {
	for _, chosen := range []string{"32", "2.32", "1.32.9", "v1.32", "1.31"} {
		t.Setenv(VersionVariable, chosen)
		_, err := Start(t.Context(), Options{})
		if want := fmt.Sprintf("TESTCLUSTER_KUBERNETES chooses Kubernetes %q: want a minor version from 1.32 on, such as 1.32; choose none for 1.36", chosen); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

func TestAComponentThatFailsIsNamedWithTheEndOfItsLog(t *testing.T) {
	t.Parallel()
	c, err := Start(t.Context(), Options{ControllerManagerArgs: []string{"--no-such-flag"}})
	if err == nil {
		_ = c.Stop()
		t.Fatal("the cluster started with a wrong flag")
	}
	for _, want := range []string{ControllerManager, "exit status 1", "unknown flag: --no-such-flag"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

func TestATakenPortIsFollowedByAnotherTry(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	var log strings.Builder
	flag := fmt.Sprintf("--secure-port=%d", taken.Addr().(*net.TCPAddr).Port)
	c, err := Start(t.Context(), Options{APIServerArgs: []string{flag}, Log: &log})
	if err == nil {
		_ = c.Stop()
		t.Fatal("the cluster started on a taken port")
	}
	if tries := strings.Count(log.String(), "other ports"); tries != startTries-1 {
		t.Errorf("%d other tries, want %d: %v", tries, startTries-1, err)
	}
}

// inCheckout makes a checkout without binaries the working directory, and returns its folder.
func inCheckout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(permissions)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, permissions), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return dir
}

// start starts a cluster that the end of the test stops.
func start(t *testing.T, o Options) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func apply(t *testing.T, c *Cluster, yaml string) {
	t.Helper()
	if err := c.Apply(t.Context(), yaml); err != nil {
		t.Fatal(err)
	}
}

// kubectl returns kubectl's output.
func kubectl(t *testing.T, c *Cluster, args ...string) string {
	t.Helper()
	out, err := c.Kubectl(t.Context(), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// watch returns the events of a pod from now on, one line for each.
func watch(t *testing.T, c *Cluster, name string) <-chan string {
	t.Helper()
	const format = `jsonpath={.type} {.object.status.phase} {.object.status.containerStatuses[0].state.terminated.exitCode}{"\n"}`
	cmd := c.Kubectl(t.Context(), "get", "pod", name, "--watch", "--output-watch-events", "-o", format)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := make(chan string, 100)
	scanner := bufio.NewScanner(out)
	scanner.Scan() // the first line is the present state: the watch has begun
	go func() {
		defer close(lines)
		for scanner.Scan() {
			lines <- strings.TrimSpace(scanner.Text())
		}
	}()
	return lines
}

// pod returns the manifest of a pod with this line in its spec.
func pod(name, spec string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\nspec:\n  %s\n  containers: [{name: c, image: i}]\n", name, spec)
}

func pidsOf(c *Cluster) map[string]int {
	pids := make(map[string]int)
	for _, component := range c.components {
		pids[component.name] = component.Pid()
	}
	return pids
}

// readPids parses the output of startAndWait.
func readPids(t *testing.T, lines *bufio.Scanner) map[string]int {
	t.Helper()
	pids := make(map[string]int)
	for lines.Scan() && lines.Text() != "ready" {
		name, text, _ := strings.Cut(lines.Text(), " ")
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		pids[name] = pid
	}
	if len(pids) != 5 {
		t.Fatalf("the helper started %v, want five components", pids)
	}
	return pids
}

// alive reports whether the process runs. A process that has ended and was not waited for counts as not running.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
