package pending

import (
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/status"
)

func TestAnEvictionThatWaitsForARateSaysSo(t *testing.T) {
	now := time.Now()
	e := &status.Eviction{Namespace: "shop", Pod: "web", State: status.Due, Deadline: now, Policy: "drain", Method: "evict", WaitsFor: "rate cluster", DeleteAt: now.Add(90 * time.Minute)}
	one := podOf(e)
	if got := state(&one, now); got != "due, waits for rate cluster" {
		t.Errorf("its state is %q", got)
	}
	if got := answer.Decider(&one.Prediction, now); got != "drain, deletes in 1h30m0s" {
		t.Errorf("its policy is %q", got)
	}
}

func TestWhatAManagerHoldsIsNotCountedAsGoing(t *testing.T) {
	now := time.Now()
	held := podOf(&status.Eviction{Pod: "web", State: status.Held, Deadline: now, HeldBy: "policy quarantine"})
	pending := foresight.NewPending(now, []foresight.PendingPod{held})
	if _, going := pending.Evictions(); going != 0 || answer.When(&held.Prediction, now) != "held" {
		t.Errorf("got %+v", pending)
	}
}
