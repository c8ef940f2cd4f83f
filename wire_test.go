package taintmanager

import (
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
)

// The cache has nodes, and shards judge them, only after the observer has returned.
func TestNodesAreObservedWhenTheShardsHaveTheJudgeThatFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		latest := policy.Judge{Facts: &policy.Facts{}}
		outage := policy.Breaker{Name: "outage", Taints: []policy.TaintKey{{Key: "out"}}, MaxNodes: intstr.FromInt32(0)}
		tracker := breaker.NewTracker(breaker.Options{
			Config:    breaker.Config{Config: policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{outage}}}},
			Judged:    func(j policy.Judge) { time.Sleep(time.Second); latest = j }, //nolint:forbidigo // in a bubble, whose time is virtual
			Record:    func(breaker.Record) {},
			Report:    func(breaker.Event) {},
			Journaled: func() breaker.Journaled { return breaker.Journaled{Known: true} },
			Keep:      func(policy.Needs) <-chan error { return nil },
		})
		go tracker.Run(t.Context())
		tracker.Put(breaker.Ready{})
		h := handler{&Manager{tracker: tracker}}
		for i, taints := range [][]v1.Taint{nil, {{Key: "out"}}, nil} {
			h.NodesChanged([]breaker.NodeChange{{Name: "n", Node: &breaker.Node{Name: "n", Taints: taints}}}, i == 0)
			if tripped := latest.Facts.Tripped[policy.Trip{Breaker: "outage"}]; tripped != (i > 0) {
				t.Errorf("change %d: tripped %v", i, tripped)
			}
		}
	})
}
