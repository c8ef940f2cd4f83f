package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// starts returns the starts of the node's NoSchedule taints: triggers, then those that are audited.
func (w *world) starts(begun time.Time) string {
	n, _ := w.source.PodsOn("n")
	text := func(histories []taint.History) string {
		var texts []string
		for _, h := range histories {
			for _, s := range h {
				texts = append(texts, fmt.Sprintf("%s=%s@%.0f", s.Taint.Key, s.Taint.Value, s.Since.Sub(begun).Seconds()))
			}
		}
		return strings.Join(texts, " ")
	}
	return strings.TrimSpace(text(n.Triggers) + " / " + text(n.Audited))
}

func TestTriggersBeginAndEndWithTheNeedForThem(t *testing.T) {
	drain := v1.Taint{Key: "drain", Effect: v1.TaintEffectNoSchedule}
	inWorlds(t, []runtime.Object{aNode(drain)}, func(t *testing.T, w *world) {
		begun := time.Now()
		need := func(n policy.Needs, want string) {
			t.Helper()
			time.Sleep(time.Until(begun.Add(time.Since(begun).Truncate(time.Minute) + time.Minute)))
			must(t, <-w.source.Need(n))
			if got := w.starts(begun.Truncate(0)); !strings.HasPrefix(got, want) {
				t.Errorf("after %v: %q, want %q", time.Since(begun), got, want)
			}
		}
		trigger, audited := policy.Needs{Triggers: []string{"drain"}}, policy.Needs{Audited: []string{"drain"}}
		need(policy.Needs{}, "/")
		need(trigger, "drain=@12")
		need(trigger.Or(policy.Needs{Triggers: []string{"other"}}), "drain=@12")
		need(trigger.Or(audited), "drain=@12") // it is a trigger only
		if n := w.source.Tainted(); len(n) != 1 {
			t.Errorf("%d nodes are tainted", len(n))
		}
		need(audited, "/ drain=@30")
		need(trigger, "drain=@36")
		need(policy.Needs{}, "/")
		if n := w.source.Tainted(); len(n) != 0 {
			t.Errorf("%d nodes are tainted", len(n))
		}
		need(trigger, "drain=@48")
	})
}
