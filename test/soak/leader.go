package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

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
func (s *soak) leader(ctx context.Context) (*testcluster.Manager, error) {
	for range 60 {
		if m, _ := s.leading(ctx); m != nil {
			return m, nil
		}
		if err := load.Pause(ctx, time.Second); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("no manager leads after a minute")
}

// sample is what the leader uses: MB of memory, and goroutines.
type sample struct{ memory, goroutines float64 }

const interval = 5 * time.Second // between samples

// sample takes samples of the leader until the context ends.
func (s *soak) sample(ctx context.Context) (samples []sample) {
	for load.Pause(ctx, interval) == nil {
		if m, text := s.leading(ctx); m != nil {
			memory := load.Sum(text, "process_resident_memory_bytes") / 1e6
			samples = append(samples, sample{memory, load.Sum(text, "go_goroutines")})
		}
	}
	return samples
}

// growth compares the median of the first ten minutes with that of the last, or of the thirds of a shorter run.
func growth(samples []sample, whole time.Duration) (first, last sample) {
	n := min(len(samples), int(min(10*time.Minute, whole/3)/interval))
	return median(samples[:n]), median(samples[len(samples)-n:])
}

func median(samples []sample) (m sample) {
	if len(samples) == 0 {
		return m
	}
	samples = slices.Clone(samples)
	slices.SortFunc(samples, func(a, b sample) int { return cmp.Compare(a.memory, b.memory) })
	m.memory = samples[len(samples)/2].memory
	slices.SortFunc(samples, func(a, b sample) int { return cmp.Compare(a.goroutines, b.goroutines) })
	m.goroutines = samples[len(samples)/2].goroutines
	return m
}

// flat reports whether the last figures are at most a tenth above the first.
func flat(first, last sample) bool {
	return first.memory > 0 && last.memory <= 1.1*first.memory && last.goroutines <= 1.1*first.goroutines
}
