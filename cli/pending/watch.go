package pending

import (
	"context"
	"errors"
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
	of, err := o.following(ctx, rules)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	out := &lines{form: o.output.Form, stuck: o.wait, w: w, notes: cmd.ErrOrStderr()}
	forPeople := o.output.Form == answer.AsWide || o.output.Form == answer.AsTable
	switch {
	case o.wait:
		end, err := waitFor(ctx, of, out, o.timeout)
		if end != "" {
			answer.Say(cmd.ErrOrStderr(), end)
		}
		return err
	case forPeople && terminal.OnTerminal(w) && os.Getenv("TERM") != "dumb":
		return o.onScreen(ctx, cmd, of)
	}
	return each(ctx, of, func(now *foresight.Pending) (bool, error) { return false, out.show(now, of) })
}

// following begins to watch the manager or the cluster; to wait, the cluster says what is left to go, and the manager,
// if it is asked, what is in the way.
func (o *options) following(ctx context.Context, rules foresight.Ruleset) (following, error) {
	if o.server != "" && !o.wait {
		manager, namespace, err := o.manager()
		if err != nil {
			return nil, err
		}
		return manager.Follow(ctx, namespace, o.nodes)
	}
	cluster, namespace, err := o.from.Live(o.from.Everywhere || o.wait)
	if err != nil {
		return nil, err
	}
	watched, err := cluster.Follow(ctx, o.scope(rules, namespace))
	if err != nil || !o.wait {
		return watched, err
	}
	if watched.Hidden() {
		return nil, errors.New("cannot tell when evictions are complete: this user may not list nodes; the ClusterRole " +
			"taint-manager-viewer of deploy/rbac.yaml grants that")
	}
	if o.server == "" {
		return watched, nil
	}
	manager, err := source.NewManager(o.server)
	if err != nil {
		return nil, err
	}
	asked, err := manager.Follow(ctx, o.from.Namespace, o.nodes)
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
