package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// commands returns the commands under a heading of a page of docs, block by block.
func commands(t *testing.T, page, heading string) []string {
	t.Helper()
	return blocks(t, page, heading, "sh")
}

// blocks returns the blocks of this language under a heading of a page of docs.
func blocks(t *testing.T, page, heading, language string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	must(t, err)
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("docs/%s has no section %s", page, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(section, -1) {
		all = append(all, block[1])
	}
	return all
}

// TestTheCommandsOfDayTwoDoWhatThePageSays runs the commands of docs/runbooks/day-two.md as a reader would copy them, and
// the probe of docs/runbooks/original-off.md.
func TestTheCommandsOfDayTwoDoWhatThePageSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.waitForNoPods(t)
	newHelm(t, w).helm(t, documented(t, "kube-system")...)
	s := w.scene(t)
	s.pod("waits", bears("key", 3600))
	s.taint("key")
	w.taintEachPartition(t, "recorded")
	pod := strings.Fields(w.kubectl(t, "-n", "kube-system", "get", "pods", "-l", "app.kubernetes.io/name=taint-manager", "-o", "name"))[0]
	leader := w.launchIn(t, strings.TrimPrefix(pod, "pod/"), election...)
	until(s, "it leads, and has recorded all taints", func() bool { return w.state(t).holder != "" && len(w.state(t).annotations) == 9 })
	t.Run("Who leads", func(t *testing.T) { w.whoLeads(t, pod) })
	t.Run("Delete a part of the journal", func(t *testing.T) { w.losesAPart(t, s.node) })
	t.Run("Upgrade and roll back", func(t *testing.T) { w.upgradesAndRollsBack(t, s.node) })
	t.Run("Pause", w.pausesAndGoesOn)
	leader.Kill() // it keeps the lease
	t.Run("Both replicas are down", func(t *testing.T) { w.downAndHelped(t, s) })
	t.Run("Upgrade the API server", w.refusesGates)
	t.Run("See it, before and after", w.probes)
}

// launchIn runs the program as if in the pod of kube-system with this name.
func (w *world) launchIn(t *testing.T, pod string, flags ...string) *testcluster.Manager {
	t.Helper()
	kubeconfig, err := w.KubeconfigFor(testcluster.ManagerUser, "system:serviceaccounts", "system:serviceaccounts:kube-system")
	must(t, err)
	m, err := w.Launch(t.Context(), w.withEnv(t, "POD_NAME="+pod), kubeconfig, flags...)
	must(t, err)
	return m
}

// withEnv returns a program that is taint-manager with a variable of the environment.
func (w *world) withEnv(t *testing.T, variable string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "taint-manager")
	must(t, os.WriteFile(file, fmt.Appendf(nil, "#!/bin/sh\n%s exec '%s' \"$@\"\n", variable, w.binary(t)), 0o700))
	return file
}

func (w *world) whoLeads(t *testing.T, pod string) {
	blocks := commands(t, "runbooks/day-two.md", "Who leads")
	holder := w.state(t).holder
	if out := w.shell(t, blocks[0]); !strings.HasPrefix(out, holder+" ") || !strings.HasPrefix("pod/"+holder, pod+"_") {
		t.Errorf("got %q, want the holder %s, which is %s", out, holder, pod)
	}
	w.shell(t, blocks[1])
	if out := w.kubectl(t, "-n", "kube-system", "get", pod, "--ignore-not-found", "-o", "name"); out != "" {
		t.Errorf("the leader's pod is still there: %s", out)
	}
}

func (w *world) losesAPart(t *testing.T, node string) {
	uid := func() string {
		part, err := w.admin.CoreV1().ConfigMaps("kube-system").Get(t.Context(), journalName+"-0", metav1.GetOptions{})
		if err != nil {
			return ""
		}
		return string(part.UID)
	}
	before, lost := w.state(t), uid()
	w.shell(t, commands(t, "runbooks/day-two.md", "Delete a part of the journal")[0])
	w.taintEachPartition(t, "tainted-later")
	until(t, "another part is in its place", func() bool { now := uid(); return now != "" && now != lost })
	w.writtenBack(t, "deleted", before, node)
	until(t, "all records are there again", func() bool { return len(w.state(t).records) == len(before.records)+journal.Partitions })
}

func (w *world) upgradesAndRollsBack(t *testing.T, node string) {
	before := w.state(t)
	for _, command := range commands(t, "runbooks/day-two.md", "Upgrade and roll back") {
		if strings.HasPrefix(command, "kubectl apply") {
			command = strings.Replace(command, "apply", "apply --server-side --force-conflicts", 1) // helm has installed
		}
		w.shell(t, command)
		w.kept(t, command, before, node, true)
	}
}

// pausesAndGoesOn checks what is written; cli/run/pause_test.go checks what that does.
func (w *world) pausesAndGoesOn(t *testing.T) {
	blocks := commands(t, "runbooks/day-two.md", "Pause")
	for i, want := range []string{"true", ""} {
		w.shell(t, blocks[i])
		config, err := w.admin.CoreV1().ConfigMaps("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
		must(t, err)
		if got, there := config.Data["paused"]; got != want || there != (want != "") || config.Data["config.yaml"] == "" {
			t.Errorf("after %s the ConfigMap has %v", blocks[i], config.Data)
		}
		if out := w.kubectl(t, "-n", "kube-system", "get", "pods", "-o", "jsonpath={.items[*].metadata.annotations.paused-at}"); len(strings.Fields(out)) < 2 {
			t.Errorf("after %s the pods have the annotations %q", blocks[i], out)
		}
	}
}

// downAndHelped looks at a cluster without a replica, and lets an administrator's machine lead.
func (w *world) downAndHelped(t *testing.T, s *scene) {
	before := w.state(t)
	blocks := commands(t, "runbooks/day-two.md", "Both replicas are down")
	out := w.shell(t, blocks[0])
	if !strings.Contains(out, "waits") || strings.Contains(out, "taint-manager's journal was not found") {
		t.Errorf("what waits is not shown:\n%s", out)
	}
	file := filepath.Join(t.TempDir(), "taint-manager.yaml")
	own := w.script(t, strings.NewReplacer("taint-manager.yaml", file, "taint-manager run", "exec taint-manager run").Replace(blocks[1]))
	var said bytes.Buffer
	own.Stdout, own.Stderr = &said, &said
	must(t, own.Start())
	t.Cleanup(func() {
		_ = own.Wait() // the end of the test has killed it, unless it has ended
		if t.Failed() {
			t.Logf("taint-manager run printed:\n%s", &said)
		}
	})
	due := s.pod("due")
	until(s, "the pod that is due is gone", func() bool {
		_, err := w.admin.CoreV1().Pods(due.Namespace).Get(t.Context(), due.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	if after := w.state(t); after.records[s.node] != before.records[s.node] || after.holder == before.holder {
		t.Errorf("the record was %q and is %q; the holder is %s", before.records[s.node], after.records[s.node], after.holder)
	}
	must(t, own.Process.Signal(os.Interrupt))
	if err := own.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v\n%s", err, &said)
	}
	if holder := w.state(t).holder; holder != "" {
		t.Errorf("after Ctrl-C the lease is held by %s", holder)
	}
}

// refusesGates shows that a gate that is locked or unknown keeps kube-controller-manager from starting.
func (w *world) refusesGates(t *testing.T) {
	w.shell(t, commands(t, "runbooks/day-two.md", "Upgrade the API server")[0])
	refusals := map[string]string{"NoSuchGate=true": "unrecognized feature gate: NoSuchGate"}
	const separate = "SeparateTaintEvictionController"
	switch minor := w.Minor(); {
	case minor >= 38:
		refusals[separate+"=false"] = "unrecognized feature gate: " + separate
		refusals[separate+"=true"] = "unrecognized feature gate: " + separate
	case minor >= 34:
		refusals[separate+"=false"] = "feature is locked to true"
	}
	for gate, want := range refusals {
		o, err := w.LaunchOriginal(t.Context(), "--feature-gates="+gate)
		must(t, err)
		ended := o.Wait(20 * time.Second)
		if log, err := o.Log(); err != nil || ended == nil || !strings.Contains(log, want) {
			t.Errorf("%s: %v, %v, and its log should have %q:\n%s", gate, ended, err, want, log)
		}
	}
}

// probes runs the probe without the original, and with it.
func (w *world) probes(t *testing.T) {
	probe := commands(t, "runbooks/original-off.md", "See it, before and after")[1]
	terminates := regexp.MustCompile(`(?m)^20[0-9-]+T[0-9:]+Z$`)
	if out := w.shell(t, probe); terminates.MatchString(out) {
		t.Errorf("without the original the pod terminates:\n%s", out)
	}
	o, err := w.LaunchOriginal(t.Context())
	must(t, err)
	time.Sleep(3 * time.Second) //nolint:forbidigo // for the original, which says nowhere that it evicts
	if out := w.shell(t, probe); !terminates.MatchString(out) {
		t.Errorf("with the original the pod does not terminate:\n%s", out)
	}
	must(t, o.Stop())
}
