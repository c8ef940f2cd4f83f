package repository

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A new list of controllers switches off what a distribution has added to the old one, such as the two controllers for
// the tokens with which nodes join. The tests' own control plane has nothing to keep.
func TestNobodyIsToldToWriteTheListOfControllersAnew(t *testing.T) {
	atRoot(t)
	files, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "*.go", "*.md", "*.yaml", "*.txt", "*.txtar", "Makefile").Output()
	if err != nil {
		t.Skipf("it needs git and a clone: %v", err)
	}
	replaced := []byte("controllers=*,-taint-" + "eviction-controller")
	for name := range strings.SplitSeq(strings.Trim(string(files), "\x00"), "\x00") {
		if strings.HasPrefix(name, "test/testcluster/") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		if bytes.Contains(text, replaced) {
			t.Errorf("%s writes a new list of controllers; say to keep it and to append (docs/switching-over.md)", name)
		}
	}
}

// The kubelet runs every manifest in its folder, so the commands leave no copy next to the one that they change.
func TestTheCommandsForKubeadmAppendToTheListAndRestoreIt(t *testing.T) {
	atRoot(t)
	_, section, _ := strings.Cut(read(t, "docs/runbooks/original-off.md"), "\n## kubeadm and kind\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1)
	folder := t.TempDir()
	manifest := filepath.Join(folder, "manifests", "kube-controller-manager.yaml")
	if err := os.MkdirAll(filepath.Dir(manifest), 0o700); err != nil || len(blocks) != 2 {
		t.Fatalf("docs/runbooks/original-off.md has no commands for kubeadm, or %v", err)
	}
	const before = "  - command:\n    - kube-controller-manager\n    - --controllers=*,bootstrapsigner,tokencleaner\n    - --leader-elect=true\n"
	if err := os.WriteFile(manifest, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{strings.Replace(before, "tokencleaner", "tokencleaner,-taint-eviction-controller", 1), before} {
		script := strings.ReplaceAll(blocks[i][1], "/etc/kubernetes", folder)
		if out, err := exec.CommandContext(t.Context(), "sh", "-ec", script).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		after, err := os.ReadFile(manifest)
		left, _ := os.ReadDir(filepath.Dir(manifest))
		if err != nil || string(after) != want || len(left) != 1 {
			t.Errorf("got %q next to %d others, want %q: %v", after, len(left)-1, want, err)
		}
	}
}

func TestTheCommandBeforeAnUpgradePrintsTheControllersThatAreRemoved(t *testing.T) {
	atRoot(t)
	_, section, _ := strings.Cut(read(t, "docs/runbooks/original-off.md"), "\n## Before an upgrade to 1.37\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, command, _ := strings.Cut(section, "```sh\n")
	command, _, _ = strings.Cut(command, "```")
	pods := filepath.Join(t.TempDir(), "pods.yaml")
	const reads = "kubectl -n kube-system get pods -o yaml"
	if strings.Count(command, reads) != 1 {
		t.Fatalf("the command reads no pods: %q", command)
	}
	const none = "no pod of kube-controller-manager names one of them\n"
	for list, want := range map[string]string{
		"*,bootstrapsigner,-service":                                      "-service\n",
		"*,node-route-controller,tokencleaner":                            "node-route-controller\n",
		"-cloud-node-lifecycle-controller,*":                              "-cloud-node-lifecycle-controller\n",
		"*,service-lb-controller,-route,cloud-node-lifecycle":             "service-lb-controller\n-route\ncloud-node-lifecycle\n",
		"*,serviceaccount,serviceaccount-token-controller":                none,
		"*,bootstrapsigner,tokencleaner,-taint-eviction-controller":       none,
		"*,-service-cidr-controller,cloud-node,node-lifecycle-controller": none,
	} {
		text := "    - command:\n      - kube-controller-manager\n      - --controllers=" + list + "\n      - --leader-elect=true\n"
		if err := os.WriteFile(pods, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		script := strings.Replace(command, reads, "cat "+pods, 1)
		if out, err := exec.CommandContext(t.Context(), "sh", "-ec", script).CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%s: got %q, want %q: %v", list, out, want, err)
		}
	}
}
