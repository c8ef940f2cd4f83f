package pending

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/foresight"
)

// current is the changing state of the scheduled evictions.
type current interface {
	// News receives a value when something has changed.
	News() <-chan struct{}

	// look returns the present state.
	look() *foresight.Pending

	// left returns the change that ended the eviction of a pod, and the reason if it is known.
	left(uid string) (change, why string)
}

// inCluster is the state of a cluster that is watched.
type inCluster struct {
	*source.Watched
	nodes []string
}

func (i inCluster) look() *foresight.Pending { return i.Pending(i.nodes) }

func (i inCluster) left(uid string) (change, why string) {
	if why, stays := i.Stays(types.UID(uid)); stays {
		return cancelled, why
	}
	return gone, ""
}

// inManager is the state of a manager that is followed.
type inManager struct {
	*source.Followed
	*options
}

func (i inManager) look() *foresight.Pending {
	s, trouble := i.Snapshot()
	pending := i.pendingOf(s)
	if trouble != nil {
		pending.Notes = append(pending.Notes, fmt.Sprintf("the manager does not answer, so this may be "+
			"out of date: %v", trouble))
	}
	return pending
}

// left distinguishes the pods that the manager has evicted from those whose eviction has ended for another reason.
// The manager does not report that reason.
func (i inManager) left(uid string) (change, why string) {
	if i.Evicted(uid) {
		return evicted, ""
	}
	return over, ""
}

// viewer shows people the scheduled evictions, again and again.
type viewer interface {
	show(now *foresight.Pending, of current) error
	end(last *foresight.Pending) error
}

// calmly is the shortest time between two updates because of changes, as many changes may come at once.
const calmly = 100 * time.Millisecond

// follow shows the scheduled evictions until it is interrupted.
func (o *options) follow(ctx context.Context, cmd *cobra.Command, rules foresight.Ruleset) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	of, err := o.current(ctx, cmd, rules)
	if err != nil {
		return err
	}
	return show(ctx, of, o.viewer(cmd))
}

// current begins to watch the manager or the cluster.
func (o *options) current(ctx context.Context, cmd *cobra.Command, rules foresight.Ruleset) (current, error) {
	if o.server != "" {
		manager, err := o.manager()
		if err != nil {
			return nil, err
		}
		followed, err := manager.Follow(ctx)
		return inManager{followed, o}, err
	}
	cluster, err := o.from.Live(cmd.ErrOrStderr(), o.everywhere)
	if err != nil {
		return nil, err
	}
	watched, err := cluster.Follow(ctx, o.scope(rules))
	return inCluster{watched, o.nodes}, err
}

// show updates the viewer at every change, and every second, because countdowns run.
func show(ctx context.Context, of current, to viewer) error {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		now := of.look()
		if err := to.show(now, of); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return to.end(now)
		case <-second.C:
		case <-of.News():
			select {
			case <-ctx.Done():
			case <-time.After(calmly):
			}
		}
	}
}

// viewer returns a screen on a terminal, and lines elsewhere.
func (o *options) viewer(cmd *cobra.Command) viewer {
	w := cmd.OutOrStdout()
	if (o.output.Form == answer.AsTable || o.output.Form == answer.AsWide) && terminal.OnTerminal(w) &&
		os.Getenv("TERM") != "dumb" {
		return &screen{options: o, w: w}
	}
	return &lines{options: o, w: w, notes: cmd.ErrOrStderr(), shown: map[string]foresight.PendingPod{}}
}

// remarks returns the notes of an answer, and what it lacks, which is no error while the answer changes.
func remarks(p *foresight.Pending) []string {
	list := slices.Clone(p.Notes)
	if err := p.CannotSay(); err != nil {
		list = append(list, err.Error())
	}
	return list
}
