package taintmanager

import (
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/internal/original"
)

// createChecker creates the checker for evictions by the original. A dry run is meant to run beside the original, and
// the writes of a caller's evictor are not known.
func (m *Manager) createChecker(client kubernetes.Interface) (err error) {
	if m.options.DryRun || m.options.Evictor != nil {
		return nil
	}
	m.original, err = original.New(original.Options{
		Client: client, Own: evict.FieldManager, Broken: m.conflictsWithBuiltin,
		Registerer: m.options.Registerer, Logger: m.options.Logger,
	})
	return err
}

// conflictsWithBuiltin names the settings whose promises do not hold while the original runs.
func (m *Manager) conflictsWithBuiltin() (names []string) {
	if m.Paused() {
		names = append(names, "paused")
	}
	if m.options.MaxEvictionsPerSecond > 0 {
		names = append(names, "eviction.maxEvictionsPerSecond")
	}
	return append(names, m.latestJudge().Set.ConflictsWithBuiltin()...)
}

// OriginalTrouble returns a warning if this process has seen within a day, while it led, that the original, the
// taint-eviction-controller of kube-controller-manager, evicts pods, too; otherwise nil. It does not affect readiness.
func (m *Manager) OriginalTrouble() error { return m.original.Trouble() }
