package taint_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

func TestANodeIsTaintedByEachKindOfHistory(t *testing.T) {
	gpu := []taint.History{on(0, "gpu", "")}
	for name, c := range map[string]struct {
		node *taint.Node
		want bool
	}{
		"none":      {nil, false},
		"untainted": {&taint.Node{}, false},
		"taints":    {&taint.Node{Taints: gpu}, true},
		"triggers":  {&taint.Node{Triggers: gpu}, true},
		"audited":   {&taint.Node{Audited: gpu}, true},
	} {
		if got := c.node.Tainted(); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestTheKeysOfANodeAreThoseThatItHasNow(t *testing.T) {
	n := &taint.Node{
		Taints:   []taint.History{states(past(0, "old", ""), state(1, "gpu", "a"))},
		Triggers: []taint.History{on(0, "drain", ""), on(0, "gpu", "")},
	}
	if got := n.Keys(); !slices.Equal(got, []string{"gpu", "drain"}) {
		t.Errorf("got %v", got)
	}
}

func TestNotReadyAndUnreachableReportAnOutage(t *testing.T) {
	for key, want := range map[string]bool{v1.TaintNodeNotReady: true, v1.TaintNodeUnreachable: true, v1.TaintNodeDiskPressure: false} {
		noSchedule := v1.Taint{Key: key, Effect: v1.TaintEffectNoSchedule}
		list := []v1.Taint{noExecute("gpu", ""), noSchedule}
		if taint.ReportsOutage(key) != want || taint.OutageIn(list, v1.TaintEffectNoSchedule) != want || taint.OutageIn(list, v1.TaintEffectNoExecute) {
			t.Errorf("%s: want %v", key, want)
		}
		spared := node(on(0, key, ""))
		spared.Outage = true
		if spared.OutageSpared() == want {
			t.Errorf("with the NoExecute taint %s: got %v", key, !want)
		}
	}
	var none *taint.Node
	lifted := node(states(past(0, v1.TaintNodeNotReady, "")))
	if none.OutageSpared() || lifted.OutageSpared() {
		t.Error("an outage is seen without a NoSchedule taint")
	}
	if lifted.Outage = true; !lifted.OutageSpared() {
		t.Error("a lifted NoExecute taint counts")
	}
}

func TestADisplacingTolerationHasTheKeyAndMatchesNot(t *testing.T) {
	const key = v1.TaintNodeNotReady
	other := equal(key, "other", nil)
	effect := func(e v1.TaintEffect) v1.Toleration { o := other; o.Effect = e; return o }
	for name, c := range map[string]struct {
		list []v1.Toleration
		want bool
	}{
		"none":                        {nil, false},
		"another value":               {[]v1.Toleration{effect("")}, true},
		"another value for NoExecute": {[]v1.Toleration{effect(v1.TaintEffectNoExecute)}, true},
		"for NoSchedule":              {[]v1.Toleration{effect(v1.TaintEffectNoSchedule)}, false},
		"another key":                 {[]v1.Toleration{equal("gpu", "other", nil)}, false},
		"one matches":                 {[]v1.Toleration{effect(""), exists(key, nil)}, false},
	} {
		if got := taint.Displacing(pod(c.list...), key, taint.Rules{}); (got != nil) != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
