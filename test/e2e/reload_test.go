package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// reloadTime is how long a change of the mounted file may take until it is in force.
const reloadTime = 5 * time.Second

// mount is a folder in which a kubelet has mounted a ConfigMap with one file.
type mount struct {
	dir   string
	swaps int
}

// write swaps the content of the configuration file, and returns when.
func (m *mount) write(t *testing.T, text string) moment {
	t.Helper()
	return m.swap(t, map[string]string{"config.yaml": text})
}

// swap swaps the content of all files, which have the same names each time, as a kubelet does, and returns when.
func (m *mount) swap(t *testing.T, files map[string]string) moment {
	t.Helper()
	m.swaps++
	folder, next := fmt.Sprintf("..%d", m.swaps), filepath.Join(m.dir, "..data_tmp")
	must(t, os.Mkdir(filepath.Join(m.dir, folder), 0o755))
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(m.dir, folder, name), []byte(text), 0o644))
		if m.swaps == 1 {
			must(t, os.Symlink(filepath.Join("..data", name), filepath.Join(m.dir, name)))
		}
	}
	must(t, os.Symlink(folder, next))
	at := moment{before: time.Now()}
	if err := os.Rename(next, filepath.Join(m.dir, "..data")); err != nil {
		t.Fatal(err)
	}
	at.after = time.Now()
	must(t, os.RemoveAll(filepath.Join(m.dir, fmt.Sprintf("..%d", m.swaps-1))))
	return at
}

func (m *mount) file() string { return filepath.Join(m.dir, "config.yaml") }

func TestTheMountedFileIsTakenInWithoutARestart(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: taint-manager/v1alpha1\nkind: TaintManagerConfiguration\n"
	w := newWorld(t, testcluster.Options{WithoutScheduler: true})
	files := &mount{dir: t.TempDir()}
	files.write(t, head+"policies:\n- {name: hold, method: Hold}\n")
	m := w.manage(t, "--config="+files.file())
	s := w.scene(t)
	pod := s.pod("held")
	tainted := s.taint("maintenance")
	s.stays(pod, tainted, 3)

	bad := files.write(t, head+"policies:\n- {name: hold, method: Drain}\n")
	s.until("an event of the lease says that the file is refused", func() bool { return w.refusedFile(t, `policies[0].method: Unsupported value: "Drain"`) })
	s.stays(pod, bad, 3)
	_, body := ask(t, &tls.Config{InsecureSkipVerify: true}, "https://"+m.Address()+"/readyz?verbose")
	if !strings.Contains(body, "[!]config: the file is refused") || !strings.Contains(body, "taint-manager would not start with it") {
		t.Errorf("readiness does not mention it:\n%s", body)
	}

	good := files.write(t, head+"policies:\n- {name: drain, method: Delete, match: {taints: [{key: maintenance}]}}\n")
	at, ended := w.deletion(t, pod.UID, good.after.Add(reloadTime+soon))
	if !ended {
		t.Fatalf("the pod did not go within %v of the change", reloadTime+soon)
	}
	t.Logf("the pod went %v after the change", at.Sub(good.after).Round(time.Millisecond))
	w.pausesByKey(t, files, m, s)
	log, err := m.Log()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"config.yaml: policies[0].method: Unsupported value: ", "podsDue=1"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q", want)
		}
	}
}

// pausesByKey sets the key next to the file, and removes it.
func (w *world) pausesByKey(t *testing.T, files *mount, m *testcluster.Manager, s *scene) {
	t.Helper()
	key := filepath.Join(files.dir, "paused")
	began := time.Now()
	must(t, os.WriteFile(key, []byte("true"), 0o600))
	s.until("it is paused", func() bool { return strings.Contains(w.readyz(t, m), "[!]paused: no eviction starts") })
	t.Logf("it paused %v after the key was there", time.Since(began).Round(time.Millisecond))
	pod := s.pod("late")
	s.stays(pod, moment{began, time.Now()}, 3)
	must(t, os.Remove(key))
	if _, ended := w.deletion(t, pod.UID, time.Now().Add(reloadTime+soon)); !ended {
		t.Error("the pod did not go after the pause")
	}
}

// refusedFile reports whether the lease has an event about a refused file, with that reason.
func (w *world) refusedFile(t *testing.T, why string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	events, err := w.admin.CoreV1().Events("kube-system").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Lease,involvedObject.name=taint-manager,reason=ConfigurationRefused"})
	return err == nil && slices.ContainsFunc(events.Items, func(e v1.Event) bool { return e.Type == v1.EventTypeWarning && strings.Contains(e.Message, why) })
}
