package source

import (
	"strings"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/status"
)

func TestAPolicyOfTheManagerIsNamedWithItsDeletion(t *testing.T) {
	now := time.Now()
	p := podOf(&status.Eviction{State: eviction.StateDue, Deadline: now, Policy: "drain", Method: "evict", DeleteAt: now.Add(90 * time.Minute)})
	if got := answer.ShortReason(&p.Prediction, now); !strings.HasPrefix(got, "policy drain: ") || !strings.HasSuffix(got, "; if refused, deleted in 1h30m") {
		t.Errorf("its policy is %q", got)
	}
}

func TestWhatAManagerHoldsIsNotCountedAsGoing(t *testing.T) {
	f := &Followed{evictions: map[string]status.Eviction{"web": {Pod: "web", State: eviction.StateHeld, HeldBy: "policy quarantine"}}}
	pending := f.pending(time.Now())
	if going := pending.Evictions(); going != 0 || answer.When(&pending.Pods[0].Prediction, pending.At) != "held" {
		t.Errorf("got %+v", pending)
	}
}
