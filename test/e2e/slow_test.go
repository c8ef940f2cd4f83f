package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

func pauseUntil(t *testing.T, moment time.Time) {
	select {
	case <-time.After(time.Until(moment)): //nolint:forbidigo // the control plane runs in real time
	case <-t.Context().Done():
	}
}

// afterwards returns a context for a test's cleanup.
func afterwards(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }

// managerMetrics returns the metrics of a manager.
func (w *world) managerMetrics(t *testing.T, m *testcluster.Manager) string {
	t.Helper()
	var err error
	for range 50 { // the authority of client certificates comes from the API server, moments after the start
		text := ""
		if text, err = load.Metrics(t.Context(), w.Kubeconfig(), m.Address()); err == nil {
			return text
		}
		<-time.After(100 * time.Millisecond) //nolint:forbidigo // for the authority of client certificates, which a real API server tells
	}
	t.Fatal(err)
	return ""
}
