package managertest

import (
	"context"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
)

// sink keeps events.
type sink struct {
	mu     sync.Mutex
	events []*v1.Event
}

func (s *sink) Create(_ context.Context, event *v1.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event)
	return nil
}

// about returns the names of the objects of the events with this reason, sorted.
func (s *sink) about(reason string) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Reason == reason {
			names = append(names, e.InvolvedObject.Name)
		}
	}
	slices.Sort(names)
	return names
}
