package e2e

import (
	"testing"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// managerMetrics returns the metrics of a manager.
func (w *world) managerMetrics(t *testing.T, m *testcluster.Manager) (metrics string) {
	t.Helper()
	until(t, "the API server has told the manager the authority of client certificates", func() bool {
		var err error
		metrics, err = load.Metrics(t.Context(), w.Kubeconfig(), m.Address())
		return err == nil
	})
	return metrics
}
