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

// following is the changing state of the scheduled evictions, in a cluster or by a manager's stream.
type following interface {
	// News receives a value when something has changed.
	News() <-chan struct{}

	// Pending returns the present state.
	Pending(ctx context.Context) *foresight.Pending

	// Ended returns the change that ended the eviction of a pod, and the reason if it is known.
	Ended(uid string) (change, reason string)
}

// viewer shows people the scheduled evictions, again and again.
type viewer interface {
	show(now *foresight.Pending, of following) error
	end(last *foresight.Pending) error
}

// minInterval is the shortest time between two updates because of changes, as many changes may come at once.
const minInterval = 100 * time.Millisecond

// follow shows the scheduled evictions until it is interrupted.
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
	return show(ctx, of, o.viewer(cmd))
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
	cluster, namespace, err := o.from.Live(o.everywhere || o.wait)
	if err != nil {
		return nil, err
	}
	return cluster.Follow(ctx, o.scope(rules, namespace))
}

// show updates the viewer at every change, and every second, because countdowns run.
func show(ctx context.Context, of following, to viewer) error {
	var last *foresight.Pending
	err := each(ctx, of, func(now *foresight.Pending) (bool, error) {
		last = now
		return false, to.show(now, of)
	})
	if err != nil {
		return err
	}
	return to.end(last)
}

// each calls the function with the present state at every change, and every second, until it returns true or an error,
// or the context ends.
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

// viewer returns a screen on a terminal, and lines elsewhere.
func (o *options) viewer(cmd *cobra.Command) viewer {
	w, form := cmd.OutOrStdout(), o.output.Form
	if (form == answer.AsTable || form == answer.AsWide) && terminal.OnTerminal(w) && os.Getenv("TERM") != "dumb" {
		return &screen{w: w, wide: form == answer.AsWide}
	}
	return &lines{form: form, w: w, notes: cmd.ErrOrStderr()}
}
