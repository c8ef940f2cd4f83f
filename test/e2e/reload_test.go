package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// reloadTime is how long a change of the mounted file may take until it is in force.
const reloadTime = 5 * time.Second

// mount is a folder in which a kubelet has mounted a ConfigMap with one file.
type mount struct {
	dir   string
	swaps int
}

// write swaps the content of the configuration file.
func (m *mount) write(t *testing.T, text string) {
	t.Helper()
	m.swap(t, map[string]string{"config.yaml": text})
}

// swap swaps the content of all files, which have the same names each time, as a kubelet does.
func (m *mount) swap(t *testing.T, files map[string]string) {
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
	must(t, os.Rename(next, filepath.Join(m.dir, "..data")))
	must(t, os.RemoveAll(filepath.Join(m.dir, fmt.Sprintf("..%d", m.swaps-1))))
}

func (m *mount) file() string { return filepath.Join(m.dir, "config.yaml") }

// refusedFile reports whether the lease has an event about a refused file, with that reason.
func (w *world) refusedFile(t *testing.T, why string) bool {
	t.Helper()
	list := w.events(t, "involvedObject.kind=Lease,involvedObject.name=taint-manager,reason=ConfigurationRefused")
	return slices.ContainsFunc(list, func(e v1.Event) bool {
		return e.Type == v1.EventTypeWarning && e.Namespace == "kube-system" && strings.Contains(e.Message, why)
	})
}
