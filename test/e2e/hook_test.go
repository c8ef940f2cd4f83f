package e2e

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runsHooks does what a kubelet does with the pods of the chart's hook: it runs the program with the container's
// arguments, and the file that the pod carries, until the test ends. Helm waits for the Job meanwhile.
func (h *helm) runsHooks(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	t.Cleanup(tick.Stop)
	go func() {
		for {
			select {
			case <-t.Context().Done():
				return
			case <-tick.C:
			}
			pods, err := h.admin.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=taint-manager-validate"})
			for i := 0; err == nil && i < len(pods.Items); i++ {
				if pod := &pods.Items[i]; pod.Status.Phase == v1.PodPending || pod.Status.Phase == v1.PodRunning {
					h.runsHook(t, pod)
				}
			}
		}
	}()
}

func (h *helm) runsHook(t *testing.T, pod *v1.Pod) {
	container, volume := pod.Spec.Containers[0], pod.Spec.Volumes[0]
	item := volume.DownwardAPI.Items[0]
	key := strings.TrimSuffix(strings.TrimPrefix(item.FieldRef.FieldPath, "metadata.annotations['"), "']")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, item.Path), []byte(pod.Annotations[key]), 0o600); err != nil {
		t.Error(err)
	}
	var args []string
	for _, arg := range container.Args {
		args = append(args, strings.ReplaceAll(arg, container.VolumeMounts[0].MountPath, folder))
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join("..", "..", "bin", container.Command[0]), args...).CombinedOutput()
	pod.Status.Phase, pod.Status.Message = v1.PodSucceeded, string(out)
	if err != nil {
		pod.Status.Phase = v1.PodFailed
	}
	_, _ = h.admin.CoreV1().Pods(pod.Namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}) // a conflict is tried again
}

// logsHooks returns the URL of a proxy of the API server that serves the logs of the hook's pods, as a kubelet would.
func (h *helm) logsHooks(t *testing.T) string {
	t.Helper()
	return h.proxy(t, "/log", func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(path.Dir(r.URL.Path))
		pod, err := h.admin.CoreV1().Pods("kube-system").Get(r.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(w, pod.Status.Message)
	})
}

// refusesFiles upgrades a release with a file that the schema lets pass and the program refuses.
func (h *helm) refusesFiles(t *testing.T) {
	h.helm(t, append(documented(t, "kube-system"), "--set=config.clusterName=blue")...)
	h.kubectl(t, "-n", "kube-system", "patch", "configmap", "taint-manager", "--type=merge", "-p", `{"data":{"paused":"true"}}`)
	const name = "config.policies[0].name"
	bad := []string{"--set=" + name + "=a,config.policies[0].method=Evict,config.policies[1].name=a,config.policies[1].method=Hold"}
	bad = append(bad, "--kube-apiserver="+h.logsHooks(t))
	out, err := h.try(t, append([]string{"upgrade", "taint-manager", chartDir, "-n", "kube-system"}, bad...)...)
	if err == nil || !strings.Contains(out, "pre-upgrade hooks failed") || !strings.Contains(out, "policies[1].name") {
		t.Errorf("a refused file is upgraded to, or helm does not print what is refused: %v\n%s", err, out)
	}
	config := h.kubectl(t, "-n", "kube-system", "get", "configmap", "taint-manager", "-o", "jsonpath={.data}")
	if !strings.Contains(config, "clusterName: blue") || strings.Contains(config, "policies") {
		t.Errorf("the ConfigMap has the refused file:\n%s", config)
	}
	h.helm(t, "upgrade", "taint-manager", chartDir, "-n", "kube-system", "--set=config.clusterName=green")
	if left := h.kubectl(t, "-n", "kube-system", "get", "jobs", "-o", "name"); left != "" {
		t.Errorf("after a good upgrade there is still\n%s", left)
	}
	if got := h.kubectl(t, "-n", "kube-system", "get", "configmap", "taint-manager", "-o", "jsonpath={.data.paused}"); got != "true" {
		t.Errorf("after an upgrade the key paused is %q", got)
	}
	h.uninstalls(t, "kube-system")
}
