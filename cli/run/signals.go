package run

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// killed is the exit code after the second signal: the program did not end in order.
const killed = 1

// signalled returns a context that ends at the first SIGTERM or SIGINT; the second ends the process.
func signalled(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go obey(signals, over, cancel, func() { os.Exit(killed) })
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		cancel()
	}
}

// obey calls ask at the first signal and kill at the second.
func obey(signals <-chan os.Signal, over <-chan struct{}, ask, kill func()) {
	for _, act := range []func(){ask, kill} {
		select {
		case <-signals:
			act()
		case <-over:
			return
		}
	}
}
