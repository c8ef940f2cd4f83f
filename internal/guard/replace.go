package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/taint-manager/taint-manager/policy"
)

// needs are the data that the cache keeps.
type needs struct {
	mu    sync.Mutex
	keep  func(policy.Needs) <-chan error
	judge policy.Needs // of the present judge
	extra policy.Needs // of a configuration that is to replace the present one
}

// setJudge makes the cache keep the data that a new judge needs. The extra needs stay.
func (n *needs) setJudge(j policy.Judge) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.judge = j.Needs()
	n.keep(n.judge.Or(n.extra))
}

// setExtra makes the cache keep the data that the present judge needs, and the extra data. The returned channel is
// closed once the cache has both.
func (n *needs) setExtra(extra policy.Needs) <-chan error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.extra = extra
	return n.keep(n.judge.Or(extra))
}

// Prepare adopts the record of the journal, and blocks until the cache has the data that the holds of the record need.
// Replace waits for Prepare: the cache may never get the data that a replacement needs, and no eviction waits for them.
func (t *Tracker) Prepare(ctx context.Context) error {
	if err := t.Do(ctx, Ready{}); err != nil {
		return fmt.Errorf("adopting the record of holds: %w", err)
	}
	if err := t.await(ctx, policy.Needs{}); err != nil {
		return err
	}
	t.replaceToken <- struct{}{}
	return nil
}

// Replace replaces the configuration, or changes nothing if it returns an error. It first waits for Prepare, and until
// the cache has the data that both configurations need. Then a new pause begins; apply applies the new rates; the new
// judge decides; and an old pause ends. So the new rates count all pods that the new configuration releases. Then the
// cache drops the data that are no longer needed.
func (t *Tracker) Replace(ctx context.Context, c Config, apply func()) error {
	select {
	case <-t.replaceToken:
		defer func() { t.replaceToken <- struct{}{} }()
	case <-t.ended:
		return errors.New("waiting until the manager is ready: Run has ended")
	case <-ctx.Done():
		return fmt.Errorf("waiting until the manager is ready: %w", ctx.Err())
	}
	defer t.needs.setExtra(policy.Needs{})
	if err := t.await(ctx, c.Set.Needs()); err != nil {
		return err
	}
	if c.Paused {
		t.options.SetPaused(true)
	}
	apply()
	// The context no longer counts, as a part of the configuration is in force.
	if err := t.Do(context.WithoutCancel(ctx), Reconfigured{c}); err != nil {
		return fmt.Errorf("replacing policies: %w", err)
	}
	t.options.SetPaused(c.Paused)
	return nil
}

// await makes the cache get the extra data, and blocks until the cache has them.
func (t *Tracker) await(ctx context.Context, extra policy.Needs) error {
	select {
	case err := <-t.needs.setExtra(extra):
		if err != nil {
			return fmt.Errorf("getting what the policies need: %w", err)
		}
	case <-ctx.Done():
		return fmt.Errorf("waiting until what the policies need is known: %w", ctx.Err())
	}
	if t.options.Namespaces() != nil {
		t.Put(NamespacesChanged{})
	}
	return nil
}
