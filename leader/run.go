package leader

import (
	"context"
	"errors"
)

// Manager is what [Run] runs; taintmanager.Manager implements it.
type Manager interface {
	Run(ctx context.Context) error
	Lead(ctx context.Context) error
}

// Campaign calls lead while this process leads, and returns once ctx has ended and the lease is released:
// [Election.Campaign], or [Always].
type Campaign func(ctx context.Context, lead func(context.Context) error) error

// Always is the campaign of a process that leads from beginning to end, without a lease.
func Always(ctx context.Context, lead func(context.Context) error) error { return lead(ctx) }

// Run runs the manager and the campaign until ctx ends or one of the two fails. It keeps the leadership until the
// manager's calls have ended, so that no call is cut short, and none overlaps with a call of the next leader.
func Run(ctx context.Context, m Manager, c Campaign) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	campaigning, resign := context.WithCancel(context.WithoutCancel(ctx))
	defer resign()
	resigned := make(chan error, 1)
	go func() {
		defer stop()
		resigned <- c(campaigning, func(ctx context.Context) error {
			if err := m.Lead(ctx); working.Err() == nil {
				return err
			}
			return nil // a manager that has ended refuses to lead
		})
	}()
	err := m.Run(working)
	resign()
	return errors.Join(err, <-resigned)
}
