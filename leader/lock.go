package leader

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock wraps the lock of an elector. It notes when this process has renewed the lease, see [Lock.Fresh], and when
// another one has, see [Lock.OthersUntil]. It releases only a lease that this process holds, see [Lock.Update].
//
// A Lock is for the calls of one elector, which makes one call at a time. Any goroutine may call Fresh and OthersUntil.
type Lock struct {
	resourcelock.Interface
	now func() time.Time // carries the monotonic clock

	// duration is the lease duration of this process.
	duration time.Duration

	// known is the latest record that this process has read or written; the zero value before the first.
	known resourcelock.LeaderElectionRecord

	// forbidden says that the lease does not exist, and that the API server has forbidden its creation.
	forbidden atomic.Bool

	// tried is when the first write was sent that was to take or renew the lease with the latest time of renewal, which
	// triedSecond has in whole seconds since 1970.
	tried       time.Time
	triedSecond int64

	// renewed is a moment before the latest write that took or renewed the lease was sent; nil if this process does not
	// hold the lease.
	renewed atomic.Pointer[time.Time]

	// others is until when another holder may lead by the renewals that this process saw; nil if none may.
	others atomic.Pointer[time.Time]
}

// NewLock returns a lock that wraps another one. Pass the elector's LeaseDuration.
func NewLock(wrapped resourcelock.Interface, leaseDuration time.Duration) *Lock {
	return &Lock{Interface: wrapped, now: time.Now, duration: leaseDuration}
}

// Fresh reports whether the lease was renewed within the given time, measured from before the renewal was sent: no
// other candidate can take the lease within its duration from then on. Pass the elector's RenewDeadline.
func (l *Lock) Fresh(within time.Duration) bool {
	renewed := l.renewed.Load()
	return renewed != nil && passed(*renewed, l.now()) < within
}

// OthersUntil returns the end of the lease duration after this process last saw another holder renew the lease, or
// found that holder's lease deleted or emptied; zero if it saw no other holder, or if that holder has released the
// lease. A leader must not begin before.
func (l *Lock) OthersUntil() time.Time {
	if until := l.others.Load(); until != nil {
		return *until
	}
	return time.Time{}
}

// passed returns the time between two moments by the clock that has run further: while a machine is suspended its
// monotonic clock may stand still, and its wall clock may be set back.
func passed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

// Get returns the lease's record.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	switch {
	case err == nil:
		l.forbidden.Store(false)
		l.remember(*record)
	case apierrors.IsNotFound(err):
		l.remember(resourcelock.LeaderElectionRecord{})
	}
	return record, raw, err
}

// remember notes a record that the lease has; the zero value if there is no lease.
func (l *Lock) remember(record resourcelock.LeaderElectionRecord) {
	holder := record.HolderIdentity
	switch {
	case holder == l.Identity(), holder == "" && !l.otherMayHold():
	case holder == "" && record.LeaseDurationSeconds == 1: // its holder has released it
		l.others.Store(nil)
	case holder != l.known.HolderIdentity || !record.RenewTime.Equal(&l.known.RenewTime):
		lasts := max(l.duration, time.Duration(record.LeaseDurationSeconds)*time.Second)
		l.others.Store(new(l.now().Add(lasts)))
	}
	l.known = record
}

// otherMayHold reports whether another process may have held the lease when it was read last, or since this process
// could no longer renew it.
func (l *Lock) otherMayHold() bool {
	return l.known.HolderIdentity != "" && (l.known.HolderIdentity != l.Identity() || !l.Fresh(l.duration))
}

// Create creates the lease for this process.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	err := l.write(ctx, record, l.Interface.Create)
	l.forbidden.Store(apierrors.IsForbidden(err))
	return err
}

// errNotHolder is returned for a release of a lease that this process does not hold.
var errNotHolder = errors.New("the lease is not released: this process does not hold it")

// Update writes the record. It refuses to clear another holder's name: an elector that could not renew in time releases
// the lease without checking who holds it by then.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" && l.known.HolderIdentity != l.Identity() {
		return errNotHolder
	}
	return l.write(ctx, record, l.Interface.Update)
}

// write sends the record. A lease that is released counts as lost from before the request is sent, because others may
// take it before the response arrives. A write that fails does not renew the lease.
func (l *Lock) write(
	ctx context.Context, record resourcelock.LeaderElectionRecord,
	send func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	ours := record.HolderIdentity == l.Identity()
	if ours {
		l.try(record)
	} else {
		l.renewed.Store(nil)
	}
	if err := send(ctx, record); err != nil {
		return err
	}
	l.remember(record)
	if ours {
		l.renewed.Store(new(l.tried))
	}
	return nil
}

// try notes when the first write with the record's time of renewal was sent. An elector repeats a write that has
// failed. If the first write was stored nevertheless, the second write changes nothing, and other candidates measure
// from the first write. The same holds for renewals within one second: electors compare records as JSON, which has
// times in whole seconds.
func (l *Lock) try(record resourcelock.LeaderElectionRecord) {
	if second := record.RenewTime.Unix(); l.tried.IsZero() || l.triedSecond != second {
		l.tried, l.triedSecond = l.now(), second
	}
}

// release releases the lease if this process holds it. This process does not lead afterwards, even if the release has
// failed.
func (l *Lock) release(ctx context.Context) error {
	defer l.renewed.Store(nil)
	record, _, err := l.Get(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading whose the lease is: %w", err)
	case record.HolderIdentity != l.Identity():
		return nil
	}
	now := metav1.Now()
	err = l.Update(ctx, resourcelock.LeaderElectionRecord{
		LeaseDurationSeconds: 1, AcquireTime: now, RenewTime: now, LeaderTransitions: record.LeaderTransitions,
	})
	if err != nil {
		return fmt.Errorf("releasing the lease: %w", err)
	}
	return nil
}
