package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// work is one measurement; it returns rows of the table.
type work struct {
	name string
	do   func(ctx context.Context, w *world, rounds int) ([]report.Row, error)
}

// stage is a list of works that share a control plane.
type stage struct {
	audit      bool   // with an audit log of all requests
	kubernetes string // its version, such as 1.30; empty means that of the tests
	works      []work
}

// stages returns all works, in order. The works of the second stage share 30,000 pods, which the last of them evicts,
// and so do those of the third.
func stages() []stage {
	many, older := &sharedWorkload{}, &sharedWorkload{}
	return []stage{
		{works: []work{
			{"burst", burst},
			{"namespaces", namespaces},
			{"webhook", slowWebhook},
			{"instant", instant},
			{"idle", idle},
			{"evict", evict},
		}},
		{audit: true, works: []work{
			{"memory", many.memory},
			{"status", many.status},
			{"start", many.start},
			{"scale", many.scale},
		}},
		{audit: true, kubernetes: "1.30", works: []work{{"memory-1.30", older.memory}, {"start-1.30", older.start}}},
	}
}

func names() (list []string) {
	for _, s := range stages() {
		for _, work := range s.works {
			list = append(list, work.name)
		}
	}
	return list
}

// measure runs the works that the options name.
func measure(ctx context.Context, o options) (rows []report.Row, err error) {
	for _, s := range stages() {
		s.works = slices.DeleteFunc(s.works, func(w work) bool { return !slices.Contains(o.works, w.name) })
		if len(s.works) == 0 {
			continue
		}
		more, err := s.measure(ctx, o)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func (s stage) measure(ctx context.Context, o options) (rows []report.Row, err error) {
	w, err := newWorld(ctx, s.options())
	if err != nil {
		return nil, err
	}
	w.against = o.against
	defer func() {
		if stopErr := w.close(); err == nil {
			err = stopErr
		}
	}()
	for _, work := range s.works {
		began := time.Now()
		more, err := work.do(ctx, w, o.rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", work.name, err)
		}
		for _, row := range more {
			if s.kubernetes != "" {
				row.Work += ", Kubernetes " + s.kubernetes
			}
			rows = append(rows, row)
		}
		w.say("%s took %v", work.name, time.Since(began).Round(time.Second))
	}
	return rows, nil
}

// machine describes the machine on which this runs.
func machine(now time.Time) report.Machine {
	m := report.Machine{Date: now.UTC().Format(time.DateOnly), Cores: runtime.NumCPU()}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				m.CPU = strings.TrimSpace(value)
			}
		}
	}
	return m
}

// options returns the options of the stage's control plane. It runs no controller other than the one that is
// measured. Nodes get only the benchmark's taint.
func (s stage) options() testcluster.Options {
	o := testcluster.Options{
		WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true, Log: os.Stderr,
		Kubernetes:    s.kubernetes,
		APIServerArgs: []string{"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"},
	}
	if s.audit {
		o.AuditLevel = "Metadata"
	}
	if os.Getenv(profilesDir) != "" {
		o.Manager, _ = os.Executable() // no error on Linux
	}
	return o
}
