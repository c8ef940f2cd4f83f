package event

import (
	"slices"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/policy"
)

func TestATripIsAnEventOnEachOfItsNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{}
		q, end := start(t, Options{Sink: sink})
		q.PutTrip(guard.Event{
			Trip: policy.Trip{Breaker: "zones", Group: "eu-1a"}, Tripped: true, Affected: 7, Nodes: 12, Names: []string{"n0", "n1"},
		})
		q.SetLeading(false)
		q.PutTrip(guard.Event{Trip: policy.Trip{Breaker: "zones"}, Names: []string{"n2"}})
		end()
		const text = "Breaker zones is tripped: 7 of 12 nodes of eu-1a are affected, this one among them, and the evictions because of its taints are held"
		if got := sink.messages(); !slices.Equal(got, []string{text, text}) {
			t.Errorf("stored %q", got)
		}
		for i, name := range []string{"n0", "n1"} {
			found := slices.ContainsFunc(sink.stored, func(e *v1.Event) bool {
				return e.InvolvedObject.Name == name && e.Reason == "BreakerTripped" && e.Type == v1.EventTypeWarning
			})
			if !found {
				t.Errorf("node %d has no event: %+v", i, sink.stored)
			}
		}
	})
}
