package cluster

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// A pod that is not listed yet may distinguish two states. Joining them would make its eviction early; dropping the
// oldest makes it late.
func TestNothingIsJoinedBeforeAllPodsAreKnown(t *testing.T) {
	for name, test := range map[string]struct {
		podsListed bool
		want       time.Duration // of the first state that is left, relative to the start
	}{
		"the pods are listed":     {true, 0},
		"the pods are not listed": {false, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			now := start
			told := &record{}
			f := NewFeed(taint.Rules{}, told, func() time.Time { return now })
			told.source = f
			if test.podsListed {
				must(t, f.Pods().Replace(nil, ""))
			}
			must(t, f.Nodes().Replace([]any{aNode(v1.Taint{Key: "k", Value: "a"})}, ""))
			for i := range 8 {
				now = now.Add(time.Second)
				must(t, f.Nodes().Update(aNode(v1.Taint{Key: "k", Value: string(rune('b' + i))})))
			}
			n, _ := f.PodsOn("n")
			if h := n.Taints[0]; len(h) != 8 || !h[0].Since.Equal(start.Add(test.want)) {
				t.Errorf("got %+v, want eight states, the first since %v", h, test.want)
			}
		})
	}
}
