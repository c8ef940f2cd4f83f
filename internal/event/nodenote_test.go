package event

import (
	"slices"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
)

func TestATripIsAnEventOnEachOfItsNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{}
		leads := true
		q, end := start(t, Options{Sink: sink.Create, Leading: func() bool { return leads }})
		q.PutTrip(breaker.Event{
			Trip: policy.Trip{Breaker: "zones", Group: "eu-1a"}, Tripped: true, Affected: 7, Nodes: 12, Names: []string{"n0", "n1"},
		})
		leads = false
		q.PutTrip(breaker.Event{Trip: policy.Trip{Breaker: "zones"}, Names: []string{"n2"}})
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

func TestADrainedNodeHasANormalEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{}
		leads := true
		q, end := start(t, Options{Sink: sink.Create, Leading: func() bool { return leads }})
		q.PutDrained("n1")
		leads = false
		q.PutDrained("n2")
		end()
		if len(sink.stored) != 1 {
			t.Fatalf("stored %+v", sink.stored)
		}
		e := sink.stored[0]
		if e.InvolvedObject.Kind != "Node" || e.InvolvedObject.Name != "n1" || e.Reason != "Drained" || e.Type != v1.EventTypeNormal ||
			e.Message != "The last pod that had to go because of taints is gone" {
			t.Errorf("stored %+v", e)
		}
	})
}
