package pending

import (
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

func TestAnEvictionThatWaitsForARateSaysSo(t *testing.T) {
	p := &foresight.PendingPod{State: eviction.StateDue, Progress: foresight.Progress{WaitsFor: "rate cluster"}}
	if got := state(p, time.Now()); got != "due, waiting for rate cluster" {
		t.Errorf("its state is %q", got)
	}
}
