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
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// following is the changing state of the scheduled evictions, in a cluster or as a manager knows it.
type following interface {
	// News receives a value when something has changed.
	News() <-chan struct{}

	// Pending returns the present state.
	Pending(ctx context.Context) *foresight.Pending
}

// minInterval is the minimum time between two updates that changes cause: many changes may come at once.
const minInterval = 100 * time.Millisecond

// follow shows the scheduled evictions until it is interrupted, or waits until there are none.
func (o *options) follow(cmd *cobra.Command, rules foresight.Ruleset) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	of, err := o.following(ctx, cmd, rules)
	if err != nil {
		return err
	}
	if o.watch {
		return o.onScreen(ctx, cmd, of)
	}
	end, err := waitFor(ctx, of, &lines{w: cmd.OutOrStdout(), notes: cmd.ErrOrStderr()}, o.timeout)
	if end != "" {
		answer.Say(cmd.ErrOrStderr(), end)
	}
	return err
}

// following begins to watch the manager or the cluster. For a wait, the cluster says which pods are left, and the
// manager, if it is asked, what blocks them.
func (o *options) following(ctx context.Context, cmd *cobra.Command, rules foresight.Ruleset) (following, error) {
	var asked *source.Followed
	if o.server != "" {
		manager, namespace, err := o.manager()
		if err == nil {
			asked, err = manager.Follow(ctx, namespace, o.nodes)
		}
		if err != nil || !o.wait {
			return asked, err
		}
	}
	cluster, namespace, err := o.from.Live(o.from.Everywhere || o.wait)
	if err != nil {
		return nil, err
	}
	watched, err := cluster.Follow(ctx, o.scope(cmd, rules, namespace))
	if asked == nil {
		return watched, err
	}
	return &informed{watched, asked}, err
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
