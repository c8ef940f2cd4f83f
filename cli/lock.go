package cli

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// ownLock gives back only a lease that is held. An elector that could not renew in time gives its
// lease back, too, without looking whose it is by then; another leader would lose it.
//
// It is not safe for concurrent use, as an elector makes one call at a time.
type ownLock struct {
	resourcelock.Interface
	holder string
}

// Get notes who holds the lease.
func (l *ownLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.holder = record.HolderIdentity
	}
	return record, raw, err
}

// Update refuses to clear another's name.
func (l *ownLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" && l.holder != l.Identity() {
		return fmt.Errorf("the lease is not given back: %q holds it", l.holder)
	}
	err := l.Interface.Update(ctx, record)
	if err == nil {
		l.holder = record.HolderIdentity
	}
	return err
}

// yield gives the lease back if it is held. An elector that is told to end while it takes the lease
// does not learn that it has it, and the others would wait for its end.
func (l *ownLock) yield(ctx context.Context) error {
	record, _, err := l.Get(ctx)
	if apierrors.IsNotFound(err) || err == nil && record.HolderIdentity != l.Identity() {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking whose the lease is: %w", err)
	}
	now := metav1.Now()
	err = l.Update(ctx, resourcelock.LeaderElectionRecord{
		LeaseDurationSeconds: 1, AcquireTime: now, RenewTime: now, LeaderTransitions: record.LeaderTransitions,
	})
	if err != nil {
		return fmt.Errorf("giving the lease back: %w", err)
	}
	return nil
}
