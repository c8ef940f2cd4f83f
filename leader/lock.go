package leader

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock wraps the lock of an elector. It records when the lease was renewed, see [Lock.Fresh], and releases only a lease
// that this process holds. An elector that could not renew in time also releases its lease, without checking who holds
// it by then; another leader would lose it.
//
// An elector makes one call at a time, and a Lock is not safe for concurrent use, except that any goroutine may call
// Fresh.
type Lock struct {
	resourcelock.Interface
	now    func() time.Time // carries the monotonic clock
	holder string

	// renewed is a moment before the latest write that took or renewed the lease was sent; nil if this process does not
	// hold the lease.
	renewed atomic.Pointer[time.Time]
}

// NewLock returns a lock that wraps another one.
func NewLock(wrapped resourcelock.Interface) *Lock { return &Lock{Interface: wrapped, now: time.Now} }

// Fresh reports whether the lease was renewed within the given time, measured from before the renewal was sent: no
// other candidate can take the lease within its duration from then on. Pass the elector's RenewDeadline.
func (l *Lock) Fresh(within time.Duration) bool {
	renewed := l.renewed.Load()
	return renewed != nil && passed(*renewed, l.now()) < within
}

// passed returns the time between two moments by the clock that has run further: while a machine is suspended its
// monotonic clock may stand still, and its wall clock may be set back.
func passed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

// Get records who holds the lease.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.holder = record.HolderIdentity
	}
	return record, raw, err
}

// Create creates the lease for this process.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(record, func() error { return l.Interface.Create(ctx, record) })
}

// Update refuses to clear another holder's name.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" && l.holder != l.Identity() {
		return fmt.Errorf("the lease is not given back: %q holds it", l.holder)
	}
	return l.write(record, func() error { return l.Interface.Update(ctx, record) })
}

// write records who holds the lease. A lease that is released counts as lost from before the request is sent, because
// others may take it before the response arrives. A write that fails does not renew the lease.
func (l *Lock) write(record resourcelock.LeaderElectionRecord, send func() error) error {
	ours, sent := record.HolderIdentity == l.Identity(), l.now()
	if !ours {
		l.renewed.Store(nil)
	}
	if err := send(); err != nil {
		return err
	}
	l.holder = record.HolderIdentity
	if ours {
		l.renewed.Store(&sent)
	}
	return nil
}

// yield releases the lease if this process holds it. If an elector ends while it takes the lease, it does not learn
// that it holds it, and the others would have to wait until it expires.
func (l *Lock) yield(ctx context.Context) error {
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
