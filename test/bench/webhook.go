package main

import (
	"context"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

// webhookWork compares pods while a webhook holds the deletions of another namespace's pods, which are due at the same
// time. The plain workers leave the other namespace's pods out: their times are those without the webhook.
func webhookWork() work {
	return work{
		name: "webhook", title: "100 pods due with 300 of another namespace that a webhook holds for 30 s",
		subjects: compared(), measure: besideHeld,
		rows: []row{
			newRow("taint to deletion, median", "s", median, report.AtMost(0.5, ""), report.Reported(report.Baseline),
				report.Reported(report.Original)),
			newRow("taint to last deletion", "s", last, report.AtMost(2, ""), report.Reported(report.Baseline),
				report.Reported(report.Original)),
		},
	}
}

// besideHeld measures the eviction of pods beside others, on the same nodes, whose deletions a webhook holds.
func besideHeld(ctx context.Context, w *world, s subject) (o outcome, err error) {
	l, err := w.newWorkload(ctx, size{nodes: 20, each: 15, namespaces: []string{"tenant"}, held: true})
	if err != nil {
		return nil, err
	}
	held := l.pods
	if err := l.fill(ctx, l.nodes, size{each: 5}); err != nil {
		return nil, err
	}
	hook := load.NewWebhook()
	defer hook.Close()
	if err := hook.Register(ctx, w.admin, false); err != nil {
		return nil, err
	}
	if err := hook.AwaitInForce(ctx, w.admin, held[0].Namespace, held[0].Name); err != nil {
		return nil, err
	}
	others := *l
	others.pods = l.pods[len(held):]
	if o, err = others.burst(ctx, s); err != nil {
		return nil, err
	}
	hook.Release()
	if err := hook.Unregister(ctx, w.admin); err != nil {
		return nil, err
	}
	return o, l.clear(ctx)
}
