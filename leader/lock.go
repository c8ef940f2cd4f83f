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

// releasedSeconds is the lease duration of a record whose holder has released the lease, as electors write it.
const releasedSeconds = 1

// Lock wraps the lock of an elector. It notes who renews the lease, see [Lock.Fresh], and releases only a lease that
// this process holds, see [Lock.Update].
//
// A Lock is for the calls of one elector, which makes one call at a time. Any goroutine may call Fresh.
type Lock struct {
	resourcelock.Interface
	now      func() time.Time // carries the monotonic clock
	duration time.Duration    // of this process's lease

	// known is the latest record that this process has read or written; the zero value if there is no lease.
	known resourcelock.LeaderElectionRecord

	tried       time.Time // when a write with triedSecond was first sent
	triedSecond int64     // the renewal time of the latest write, in Unix seconds

	renewed atomic.Pointer[time.Time] // just before the latest renewal was sent; nil if this process is not the holder
	others  atomic.Pointer[time.Time] // another process may act as the holder until then; nil if none may
	trouble atomic.Pointer[error]     // the result of the latest request; nil before the first
}

// NewLock returns a lock that wraps another one. Pass the elector's LeaseDuration.
func NewLock(wrapped resourcelock.Interface, leaseDuration time.Duration) *Lock {
	return &Lock{Interface: wrapped, now: time.Now, duration: leaseDuration}
}

// Fresh reports whether this process may act as the holder of the lease: it renewed the lease within the given time,
// measured from before the renewal was sent, and no other process may act as the holder. Pass the elector's
// RenewDeadline.
func (l *Lock) Fresh(within time.Duration) bool {
	renewed := l.renewed.Load()
	return renewed != nil && passed(*renewed, l.now()) < within && l.othersMayLeadFor() <= 0
}

// othersMayLeadFor returns how much longer another process may act as the holder: until the lease duration has passed
// since this process last saw that process renew the lease, or found its lease deleted or emptied.
func (l *Lock) othersMayLeadFor() time.Duration {
	if until := l.others.Load(); until != nil {
		return until.Sub(l.now())
	}
	return 0
}

// passed returns the time between two moments by the clock that has run further: the monotonic clock may stop while the
// machine is suspended, and the wall clock may be set back.
func passed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

// Get returns the record of the lease.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	switch {
	case err == nil:
		l.remember(*record)
	case apierrors.IsNotFound(err):
		l.remember(resourcelock.LeaderElectionRecord{})
	}
	return record, raw, l.note(err)
}

// remember notes a record that the lease has; the zero value if there is no lease.
func (l *Lock) remember(record resourcelock.LeaderElectionRecord) {
	holder := record.HolderIdentity
	switch {
	case holder == l.Identity(), holder == "" && !l.otherMayHold():
	case holder == "" && record.LeaseDurationSeconds == releasedSeconds:
		l.others.Store(nil)
	case holder != l.known.HolderIdentity || !record.RenewTime.Equal(&l.known.RenewTime):
		lasts := max(l.duration, time.Duration(record.LeaseDurationSeconds)*time.Second)
		l.others.Store(new(l.now().Add(lasts)))
	}
	l.known = record
}

// otherMayHold reports whether another process held the lease when it was last read, or may have taken it after this
// process failed to renew it. While another process is the known holder, Fresh is false.
func (l *Lock) otherMayHold() bool {
	return l.known.HolderIdentity != "" && !l.Fresh(l.duration)
}

// Create creates the lease for this process.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update writes the record. It refuses to clear another holder's name: an elector that could not renew in time releases
// the lease without checking who holds it.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" && l.known.HolderIdentity != l.Identity() {
		return errors.New("the lease is not released: this process does not hold it")
	}
	return l.write(ctx, record, l.Interface.Update)
}

// write sends the record. A lease that is released counts as lost from before the request is sent, because others may
// take it before the response arrives.
//
// Electors compare renewal times in whole seconds: a write with the same time as the last one renews nothing. Such a
// write is the retry of one that was stored, but answered with an error.
func (l *Lock) write(
	ctx context.Context, record resourcelock.LeaderElectionRecord,
	send func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	ours := record.HolderIdentity == l.Identity()
	if !ours {
		l.renewed.Store(nil)
	}
	if second := record.RenewTime.Unix(); l.triedSecond != second {
		l.tried, l.triedSecond = l.now(), second
	}
	if err := l.note(send(ctx, record)); err != nil {
		return err
	}
	l.remember(record)
	if ours {
		l.renewed.Store(new(l.tried))
	}
	return nil
}

// note notes the result of a request, and returns it.
func (l *Lock) note(err error) error {
	l.trouble.Store(&err)
	return err
}

// release releases the lease if this process holds it. Even if that fails, this process does not lead afterwards.
func (l *Lock) release(ctx context.Context) error {
	defer l.renewed.Store(nil)
	record, _, err := l.Get(ctx)
	if apierrors.IsNotFound(err) || err == nil && record.HolderIdentity != l.Identity() {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading whose the lease is: %w", err)
	}
	now := metav1.Now()
	return l.Update(ctx, resourcelock.LeaderElectionRecord{
		LeaseDurationSeconds: releasedSeconds, AcquireTime: now, RenewTime: now,
		LeaderTransitions: record.LeaderTransitions,
	})
}
