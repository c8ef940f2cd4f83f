package managertest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
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

// logged keeps what is logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) logger() logr.Logger {
	return funcr.New(func(_, line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.text.WriteString(line + "\n")
	}, funcr.Options{})
}

// count returns how often the log has a text.
func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}
