package main

import (
	"context"

	"github.com/taint-manager/taint-manager/test/bench/report"
	"github.com/taint-manager/taint-manager/test/load"
)

// slowWebhook measures pods while a webhook holds the deletions of another namespace's pods, which are due at the same
// time. The plain workers leave those pods out: theirs are the times without the webhook.
func slowWebhook(ctx context.Context, w *world, rounds int) ([]report.Row, error) {
	all := results{}
	if err := all.rounds(ctx, w, rounds, compared(), w.besideHeld); err != nil {
		return nil, err
	}
	const work = "100 pods due with 300 of another namespace that a webhook holds for 30 s"
	row := func(what string, figure func(outcome) float64, most float64) report.Row {
		return all.row(work, what, "s", figure, report.AtMost(most, ""), report.Reported(report.Baseline),
			report.Reported(report.Original))
	}
	return []report.Row{
		row("taint to deletion, median", func(o outcome) float64 { return o.median }, 0.5),
		row("taint to last deletion", func(o outcome) float64 { return o.last }, 2),
	}, nil
}

// besideHeld measures the eviction of pods beside others, on the same nodes, whose deletions a webhook holds.
func (w *world) besideHeld(ctx context.Context, s subject) (o outcome, err error) {
	c, err := w.newWorkload(ctx, size{nodes: 20, each: 15, namespaces: []string{"tenant"}, held: true})
	if err != nil {
		return o, err
	}
	held := c.pods
	if err := c.fill(ctx, c.nodes, size{each: 5}); err != nil {
		return o, err
	}
	hook := load.NewWebhook()
	defer hook.Close()
	if err := hook.Register(ctx, w.admin, false); err != nil {
		return o, err
	}
	if err := hook.AwaitInForce(ctx, w.admin, held[0].Namespace, held[0].Name); err != nil {
		return o, err
	}
	others := *c
	others.pods = c.pods[len(held):]
	if o, err = others.burst(ctx, s); err != nil {
		return o, err
	}
	hook.Release()
	if err := hook.Unregister(ctx, w.admin); err != nil {
		return o, err
	}
	return o, c.clear(ctx)
}
