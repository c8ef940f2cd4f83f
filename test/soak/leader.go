package main

import (
	"context"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// leading returns the manager that leads now, and its metrics; nil if none does.
func (s *soak) leading(ctx context.Context) (*testcluster.Manager, string) {
	for _, m := range s.managers {
		text, err := load.Metrics(ctx, s.Kubeconfig(), m.Address())
		if err == nil && load.Sum(text, "taint_manager_leading") == 1 {
			return m, text
		}
	}
	return nil, ""
}

// leader waits until a manager leads.
func (s *soak) leader(ctx context.Context) (m *testcluster.Manager, err error) {
	err = load.Until(ctx, "a leader", time.Second, time.Minute, func(ctx context.Context) (bool, error) {
		m, _ = s.leading(ctx)
		return m != nil, nil
	})
	return m, err
}

const interval = 5 * time.Second // between samples

// sample takes samples of what the leader uses until the context ends: MB of memory, and goroutines.
func (s *soak) sample(ctx context.Context) (memory, goroutines report.Series) {
	for load.Pause(ctx, interval) == nil {
		if m, text := s.leading(ctx); m != nil {
			memory = append(memory, load.Sum(text, "process_resident_memory_bytes")/1e6)
			goroutines = append(goroutines, load.Sum(text, "go_goroutines"))
		}
	}
	return memory, goroutines
}

// growth returns the medians of the first ten minutes and of the last, or of the thirds of a shorter run.
func growth(samples report.Series, whole time.Duration) (first, last float64) {
	n := min(len(samples), int(min(10*time.Minute, whole/3)/interval))
	return samples[:n].Median(), samples[len(samples)-n:].Median()
}

// flat reports whether the last figure is at most a tenth above the first.
func flat(first, last float64) bool { return first > 0 && last <= 1.1*first }
