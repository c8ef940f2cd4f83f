package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

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

// outage makes lists of nodes fail until it is set to false.
func (w *world) outage() *atomic.Bool {
	var down atomic.Bool
	down.Store(true)
	w.client.Lock() // PrependReactor does not lock what concurrent requests read
	defer w.client.Unlock()
	w.client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return down.Load(), nil, errors.New("connection refused")
	})
	return &down
}

// Needs that change end the watch of nodes. What happens until the next list is complete counts as after any other
// break: a taint that is found then has its timeAdded, which the API cuts to the second.
func TestAListForOtherNeedsMakesNoEvictionEarlyOrLate(t *testing.T) {
	noExecute := func(key string, at time.Time) v1.Taint {
		return v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: at}}
	}
	for name, c := range map[string]struct {
		change func(begun time.Time) []v1.Taint // ten minutes after the needs have changed
		want   []string
	}{
		"a taint that stays":                {func(begun time.Time) []v1.Taint { return []v1.Taint{noExecute("k", begun)} }, []string{"k@0s"}},
		"a taint that is lifted":            {func(time.Time) []v1.Taint { return nil }, nil},
		"one that is lifted, and set again": {func(time.Time) []v1.Taint { return []v1.Taint{noExecute("k", time.Now())} }, []string{"k@11m1s"}},
		"another one": {func(begun time.Time) []v1.Taint {
			return []v1.Taint{noExecute("k", begun), noExecute("other", time.Now())}
		}, []string{"k@0s", "other@11m1s"}},
	} {
		inWorlds(t, []runtime.Object{aNode()}, func(t *testing.T, w *world) {
			begun := time.Now()
			w.set(aNode(noExecute("k", begun)))
			time.Sleep(time.Minute)
			down := w.outage()
			met := w.source.Need(policy.Needs{NodeLabels: true})
			time.Sleep(10 * time.Minute)
			changed := aNode(c.change(begun)...)
			changed.ResourceVersion = "2"
			w.set(changed)
			time.Sleep(time.Minute)
			down.Store(false)
			must(t, <-met)
			var got []string
			n, _ := w.source.PodsOn("n")
			for _, h := range n.Taints {
				last := &h[len(h)-1]
				got = append(got, fmt.Sprintf("%s@%v", last.Taint.Key, last.Since.Sub(begun).Truncate(time.Second)))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		})
	}
}
