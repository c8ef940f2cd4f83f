package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/taint-manager/taint-manager/internal/bench/report"
)

const (
	policyCount = 1000 // the most that a file may have
	// unmatched policies come before the first one that matches the burst's pods.
	unmatched = policyCount - 100
)

// policies measures a burst with a configuration file of a thousand policies, beside the same without a file.
func policies(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	file := filepath.Join(w.LogDir(), "policies.yaml")
	if err := os.WriteFile(file, []byte(thousandPolicies()), 0o600); err != nil {
		return nil, fmt.Errorf("writing the policies: %w", err)
	}
	with := ours("--config=" + file)
	with.name = report.Policies
	all := results{}
	if err := all.rounds(ctx, w, rounds, size{nodes: burstNodes}, []subject{ours(), with}); err != nil {
		return nil, err
	}
	row := func(what, unit string, figure func(outcome) float64, target report.Target) report.Row {
		r := all.row("3000 pods of 100 nodes at once, with 1000 policies", what, unit, figure, target)
		r.Judged = report.Policies
		return r
	}
	return []report.Row{
		row("rate", "pods/s", func(o outcome) float64 { return o.rate }, report.AtLeast(0.95, report.Ours)),
		row("taint to deletion, median", "s", func(o outcome) float64 { return o.median }, report.Reported(report.Ours)),
		row("processor time", "s", func(o outcome) float64 { return o.cpu }, report.Reported(report.Ours)),
		row("peak memory", "MB", func(o outcome) float64 { return o.peak }, report.Reported(report.Ours)),
	}, nil
}

// thousandPolicies returns a configuration file. Its policies are drawn, the same each time, and differ in taint keys,
// namespaces and pod labels. A third have the key of the burst's taint; the first that matches its pods is among the last
// hundred. All delete, as does a process without a file.
func thousandPolicies() string {
	draw := rand.New(rand.NewPCG(1, 2))
	var s strings.Builder
	s.WriteString("apiVersion: taint-manager/v1alpha1\nkind: TaintManagerConfiguration\npolicies:\n")
	for i := range policyCount {
		fmt.Fprintf(&s, "- {name: policy-%d, match: {%s}, method: Delete}\n", i, drawnMatch(draw, i))
	}
	return s.String()
}

func drawnMatch(draw *rand.Rand, i int) string {
	key := taintKey
	if draw.IntN(3) > 0 {
		key = fmt.Sprintf("example.com/key-%d", draw.IntN(200))
	}
	label := fmt.Sprintf("other-%d", draw.IntN(100))
	namespaces := fmt.Sprintf(`["team-%d", "shop-%d-*"]`, draw.IntN(100), draw.IntN(100))
	if i >= unmatched && draw.IntN(2) == 0 {
		label = "bench"
	}
	switch draw.IntN(3) {
	case 0:
		return fmt.Sprintf("taints: [{key: %s}], namespaces: %s", key, namespaces)
	case 1:
		return fmt.Sprintf("taints: [{key: %s}], podSelector: {matchLabels: {app: %s}}", key, label)
	default:
		return fmt.Sprintf("taints: [{key: %s}], namespaces: [default, team-%d], podSelector: {matchLabels: {app: %s}}", key, draw.IntN(100), label)
	}
}
