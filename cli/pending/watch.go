package pending

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// following is the changing state of the scheduled evictions, in a cluster or as a manager knows it.
type following interface {
	// News receives a value when something has changed.
	News() <-chan struct{}

	// Pending returns the present state.
	Pending(ctx context.Context) *foresight.Pending

	// Ended returns the change that ended the eviction of a pod, and the reason if it is known.
	Ended(uid string) (change, reason string)
}

// minInterval is the shortest time between two updates because of changes, as many changes may come at once.
const minInterval = 100 * time.Millisecond

// follow shows the scheduled evictions until it is interrupted, or waits until there are none.
func (o *options) follow(ctx context.Context, cmd *cobra.Command, rules foresight.Ruleset) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.wait {
		return o.await(ctx, cmd, rules)
	}
	of, err := o.following(ctx, rules)
	if err != nil {
		return err
	}
	w, wide := cmd.OutOrStdout(), o.output.Form == answer.AsWide
	if (wide || o.output.Form == answer.AsTable) && terminal.OnTerminal(w) && os.Getenv("TERM") != "dumb" {
		return onScreen(ctx, of, w, wide)
	}
	out := o.lines(cmd)
	return each(ctx, of, func(now *foresight.Pending) (bool, error) { return false, out.show(now, of) })
}

// following begins to watch the manager or the cluster.
func (o *options) following(ctx context.Context, rules foresight.Ruleset) (following, error) {
	if o.server != "" {
		manager, namespace, err := o.manager()
		if err != nil {
			return nil, err
		}
		return manager.Follow(ctx, namespace, o.nodes)
	}
	return o.watched(ctx, rules)
}

// watched begins to watch the cluster.
func (o *options) watched(ctx context.Context, rules foresight.Ruleset) (*source.Watched, error) {
	cluster, namespace, err := o.from.Live(o.from.Everywhere || o.wait)
	if err != nil {
		return nil, err
	}
	return cluster.Follow(ctx, o.scope(rules, namespace))
}

// each calls the function with the present state at every change, and every second, because countdowns run, until it
// returns true or an error, or the context ends.
func each(ctx context.Context, of following, do func(now *foresight.Pending) (end bool, err error)) error {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		if end, err := do(of.Pending(ctx)); end || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-second.C:
		case <-of.News():
			select {
			case <-ctx.Done():
			case <-time.After(minInterval):
			}
		}
	}
}
