package leader

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// unknownLeader is the holder in a record that stands in for a lost one, see [Lock.Get]. No host has such a name.
const unknownLeader = "an unknown leader"

// Lock wraps the lock of an elector. It notes when the lease was renewed, see [Lock.Fresh]. It protects a leader whose
// lease was emptied or deleted, see [Lock.Get]. It releases only a lease that this process holds, see [Lock.Update].
//
// A Lock is for the calls of one elector, which makes one call at a time. Any goroutine may call Fresh.
type Lock struct {
	resourcelock.Interface
	now func() time.Time // carries the monotonic clock

	// duration is the longest lease duration of this process and of all records that it has read.
	duration time.Duration

	// known is the latest record that this process has read or written, or the one that stands in for a lost record;
	// nil before the first.
	known *resourcelock.LeaderElectionRecord

	// lost is when this process found the lease without a record; zero while the lease has one.
	lost time.Time

	// absent says that the lease did not exist when it was read last.
	absent bool

	// forbidden says that the lease does not exist, and that the API server has forbidden its creation.
	forbidden atomic.Bool

	// tried is when the first write was sent that was to take or renew the lease with the latest time of renewal, which
	// triedSecond has in whole seconds since 1970.
	tried       time.Time
	triedSecond int64

	// renewed is a moment before the latest write that took or renewed the lease was sent; nil if this process does not
	// hold the lease.
	renewed atomic.Pointer[time.Time]

	// ledByOther is when this process last read a record which shows that another process leads or has led; nil before
	// the first.
	ledByOther atomic.Pointer[time.Time]

	// renewalSeen is when this process last observed a new time of renewal, or else became a candidate.
	renewalSeen atomic.Pointer[time.Time]
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

// passed returns the time between two moments by the clock that has run further: while a machine is suspended its
// monotonic clock may stand still, and its wall clock may be set back.
func passed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

// Get returns the lease's record. If the lease does not exist or has no record, an administrator may have deleted or
// emptied it while a leader holds it. Then Get returns a record that stands in for the lost one:
//
//   - The process that has renewed the lease within its duration gets its own latest record, so its elector writes that
//     record back at the next renewal.
//   - Any other process gets the record of an unknown leader. Its elector waits for the lease duration before it takes
//     the lease, as it does when a leader falls silent. This includes the first process after an installation.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	l.absent = apierrors.IsNotFound(err)
	if err == nil {
		l.forbidden.Store(false)
	}
	switch {
	case l.absent, err == nil && isEmpty(record):
		record, raw = l.standIn()
	case err != nil:
		l.lost = time.Time{} // a leader may have written the lease meanwhile: the waiting begins anew
		return nil, nil, err
	default:
		l.remember(*record)
	}
	return record, raw, nil
}

// isEmpty reports whether the lease has no record, or lost its holder by an edit. A lease that was released has no
// holder, either, but has the time of the release and a duration of one second.
func isEmpty(r *resourcelock.LeaderElectionRecord) bool {
	return r.HolderIdentity == "" && (r.RenewTime.IsZero() || r.LeaseDurationSeconds > 1)
}

// standIn returns the record that stands in for a lost record, and bytes that differ from those of every other record:
// an elector waits for the lease duration from the moment at which the bytes change.
func (l *Lock) standIn() (*resourcelock.LeaderElectionRecord, []byte) {
	if !l.holds() || !l.Fresh(l.duration) {
		if l.lost.IsZero() {
			l.lost = l.now()
		}
		unknown := resourcelock.LeaderElectionRecord{
			HolderIdentity: unknownLeader, LeaseDurationSeconds: int(math.Ceil(l.duration.Seconds())),
		}
		if l.known != nil {
			unknown.LeaderTransitions = l.known.LeaderTransitions
		}
		l.known = &unknown
	}
	record := *l.known
	return &record, fmt.Appendf(nil, "%+v, lost at %v", record, l.lost)
}

// remember notes a record that the lease has.
func (l *Lock) remember(record resourcelock.LeaderElectionRecord) {
	if l.showsOther(record) {
		l.ledByOther.Store(new(l.now()))
	}
	if l.known == nil || !record.RenewTime.Equal(&l.known.RenewTime) {
		l.renewalSeen.Store(new(l.now()))
	}
	l.known, l.lost = &record, time.Time{}
	l.duration = max(l.duration, time.Duration(record.LeaseDurationSeconds)*time.Second)
}

// showsOther reports whether the record shows that another process leads, or that another process has led since the
// last known record and has released the lease.
func (l *Lock) showsOther(r resourcelock.LeaderElectionRecord) bool {
	if r.HolderIdentity == "" {
		return l.known != nil && r.LeaderTransitions > l.known.LeaderTransitions
	}
	return r.HolderIdentity != l.Identity()
}

// ledByOtherSince reports whether this process has seen, after this time, that another process leads or has led. Any
// goroutine may call it.
func (l *Lock) ledByOtherSince(at time.Time) bool {
	seen := l.ledByOther.Load()
	return seen != nil && seen.After(at)
}

// holds reports whether this process is the last known holder.
func (l *Lock) holds() bool { return l.known != nil && l.known.HolderIdentity == l.Identity() }

// Create creates the lease for this process.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// errNotHolder is returned for a release of a lease that this process does not hold.
var errNotHolder = errors.New("the lease is not released: this process does not hold it")

// Update writes the record, and creates a lease that did not exist when it was read last. It refuses to clear another
// holder's name: an elector that could not renew in time releases the lease without checking who holds it by then.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	switch {
	case record.HolderIdentity == "" && !l.holds():
		return errNotHolder
	case l.absent:
		err := l.Create(ctx, record)
		l.forbidden.Store(apierrors.IsForbidden(err))
		return err
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
	l.absent = false
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
	if err != nil {
		return fmt.Errorf("reading whose the lease is: %w", err)
	}
	if record.HolderIdentity != l.Identity() {
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
