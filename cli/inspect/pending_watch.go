package inspect

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/foresight"
)

// current is the changing state of the scheduled evictions.
type current interface {
	// look returns the present state.
	look() *foresight.Pending

	// left returns the change that ended the eviction of a pod, and the reason if it is known.
	left(uid types.UID) (change, why string)

	// news receives a value when something has changed.
	news() <-chan struct{}
}

// watcher follows the scheduled evictions: of a live cluster, or of a manager.
type watcher interface {
	Follow(ctx context.Context) (current, error)
}

// viewer shows people the scheduled evictions, again and again.
type viewer interface {
	show(now *foresight.Pending, of current) error
	end(last *foresight.Pending) error
}

// calmly is the shortest time between two updates because of changes, as many changes may come at once.
const calmly = 100 * time.Millisecond

// follow shows the scheduled evictions until it is interrupted.
func (a *pendingOptions) follow(ctx context.Context, cmd *cobra.Command, from watcher) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	of, err := from.Follow(ctx)
	if err != nil {
		return err
	}
	return show(ctx, of, a.viewer(cmd))
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
		case <-of.news():
			select {
			case <-ctx.Done():
			case <-time.After(calmly):
			}
		}
	}
}

// viewer returns a screen on a terminal, and lines elsewhere.
func (a *pendingOptions) viewer(cmd *cobra.Command) viewer {
	w := cmd.OutOrStdout()
	if (a.output.form == asTable || a.output.form == asWide) && terminal.OnTerminal(w) && os.Getenv("TERM") != "dumb" {
		return &screen{pendingOptions: a, w: w}
	}
	return &lines{pendingOptions: a, w: w, notes: cmd.ErrOrStderr(), shown: map[string]foresight.PendingPod{}}
}

// remarks returns the notes of an answer, and what it lacks, which is no error while the answer changes.
func remarks(p *foresight.Pending) []string {
	list := slices.Clone(p.Notes)
	if err := cannotSay(p.Incomplete); err != nil {
		list = append(list, err.Error())
	}
	return list
}
