package leader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lock wraps the lock of an elector. It records when the lease was renewed, see [Lock.Fresh], and releases only a lease
// that this process holds. An elector that could not renew in time also releases its lease, without checking who holds
// it by then; another leader would lose it. It also protects a leader whose lease was emptied or deleted, see
// [Lock.Get].
//
// An elector makes one call at a time, and a Lock is not safe for concurrent use, except that any goroutine may call
// Fresh.
type Lock struct {
	resourcelock.Interface
	now    func() time.Time // carries the monotonic clock
	holder string

	// known is the latest record that this process has read or written; nil before the first.
	known *resourcelock.LeaderElectionRecord

	// longest is the longest lease duration of all records that this process has read or tried to write. The record of a
	// released lease has a short one.
	longest time.Duration

	// gone is since when this process has read the lease without a record; zero if it had one when it was read last.
	gone time.Time

	// age is how old the lease was when this process first read it without a record, by the API server's clock and this
	// one; zero if it was not there, or if the age is unknown. It counts only before this process has seen a record.
	age time.Duration

	// absent is why this process may not create the lease, which does not exist; nil if it exists.
	absent atomic.Pointer[absentError]

	// tried is the latest write that was to take or renew the lease.
	tried try

	// renewed is a moment before the latest write that took or renewed the lease was sent; nil if this process does not
	// hold the lease.
	renewed atomic.Pointer[time.Time]

	// ledByOther is when this process last read a record which shows that another process leads or has led; nil before
	// the first.
	ledByOther atomic.Pointer[time.Time]
}

// try is an attempt to take or renew the lease: one or more writes with the same time of renewal in whole seconds.
type try struct {
	second int64     // of the time of renewal, since 1970
	at     time.Time // before the first write was sent
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

// Get returns the lease's record, and remembers it. A client other than a candidate may have emptied or deleted the
// lease while a leader holds it, for instance by 'kubectl replace' with the manifest. Then Get returns the record of
// this process if it is still fresh, so that the elector writes it back. Otherwise it returns an error for as long as
// an unknown leader may still lead, so that no second one begins. A process that has never seen a record takes an empty
// lease at once if it was created within its duration, as by a first installation. An older one may have been emptied.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	switch {
	case apierrors.IsNotFound(err), err == nil && isEmpty(record):
		return l.restore(ctx, record, raw, err)
	case err != nil:
		l.waitAgain()
		return nil, nil, err
	}
	l.remember(*record)
	return record, raw, nil
}

// isEmpty reports whether the lease has no record. A lease that was released has the time of the release.
func isEmpty(r *resourcelock.LeaderElectionRecord) bool {
	return r.HolderIdentity == "" && r.RenewTime.IsZero()
}

// remember notes the record of a lease that exists.
func (l *Lock) remember(record resourcelock.LeaderElectionRecord) {
	if l.showsOther(record) {
		l.ledByOther.Store(new(l.now()))
	}
	l.holder, l.known, l.gone = record.HolderIdentity, &record, time.Time{}
	l.longest = max(l.longest, time.Duration(record.LeaseDurationSeconds)*time.Second)
	l.absent.Store(nil)
}

// showsOther reports whether the record shows that another process leads, or has led since the record before and has
// released the lease.
func (l *Lock) showsOther(r resourcelock.LeaderElectionRecord) bool {
	if r.HolderIdentity == "" {
		return l.known != nil && r.LeaderTransitions > l.known.LeaderTransitions
	}
	return r.HolderIdentity != l.Identity()
}

// ledByOtherSince reports whether this process has seen after that time that another process leads or has led. Any
// goroutine may call it.
func (l *Lock) ledByOtherSince(at time.Time) bool {
	seen := l.ledByOther.Load()
	return seen != nil && seen.After(at)
}

// restore returns what Get returns for a lease that was read without a record, or was not found.
func (l *Lock) restore(ctx context.Context, record *resourcelock.LeaderElectionRecord, raw []byte, err error) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err == nil {
		l.absent.Store(nil)
	}
	if l.gone.IsZero() {
		l.gone = l.now()
	}
	if failed := l.noteAge(ctx, err == nil); failed != nil {
		return nil, nil, failed
	}
	switch {
	case l.waits():
		return nil, nil, errUnknownHolder
	case err == nil && l.renewedWithin(l.longest):
		return l.lastWritten()
	}
	return record, raw, err
}

// noteAge notes the age of a lease without a record, for a process that has never seen one. If its clock is wrong, the
// process waits for one duration without need, or takes the lease at once.
func (l *Lock) noteAge(ctx context.Context, exists bool) error {
	lock, ok := l.Interface.(*resourcelock.LeaseLock)
	switch {
	case !exists:
		l.age = 0
		return nil
	case !ok || l.known != nil || l.age != 0:
		return nil
	}
	lease, err := lock.Client.Leases(lock.LeaseMeta.Namespace).Get(ctx, lock.LeaseMeta.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading when the lease was created: %w", err)
	}
	if !lease.CreationTimestamp.IsZero() {
		l.age = l.now().Sub(lease.CreationTimestamp.Time)
	}
	return nil
}

// waits reports whether an unknown leader may still lead: the lease had no record when it was read last, it may have
// had one before, this process has not renewed it, and a lease duration has not passed since it was first seen so. A
// leader that lives writes it back within that time. A lease that is emptied a second time unseen meanwhile is not
// noticed.
func (l *Lock) waits() bool {
	hadOne := l.known != nil || l.age > l.longest
	return !l.gone.IsZero() && hadOne && !l.renewedWithin(l.longest) && l.now().Sub(l.gone) < l.longest
}

// waitAgain starts the waiting anew after a request that has failed: a leader may have written the lease back meanwhile.
func (l *Lock) waitAgain() {
	if !l.gone.IsZero() {
		l.gone = l.now()
	}
}

// renewedWithin reports whether this process is the last known holder and has renewed the lease within the given time.
func (l *Lock) renewedWithin(d time.Duration) bool { return l.holds() && l.Fresh(d) }

// holds reports whether this process is the last known holder.
func (l *Lock) holds() bool { return l.holder == l.Identity() }

// errUnknownHolder is returned for a lease that has no record although a leader may still hold it.
var errUnknownHolder = errors.New("the lease has no record, and may have had one: waiting until its leader has written it back, or for the duration of the lease")

// lastWritten returns the latest record that this process has written.
func (l *Lock) lastWritten() (*resourcelock.LeaderElectionRecord, []byte, error) {
	record := *l.known
	raw, err := json.Marshal(record)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the record of the lease: %w", err)
	}
	return &record, raw, nil
}

// Create creates the lease for this process. If that is forbidden, the error names the command that creates it.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	err := l.write(record, func() error { return l.Interface.Create(ctx, record) })
	if apierrors.IsForbidden(err) {
		absent := &absentError{lease: l.Describe(), cause: err}
		l.absent.Store(absent)
		return absent
	}
	return err
}

// Update refuses to clear another holder's name.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" && !l.holds() {
		return fmt.Errorf("the lease is not given back: %q holds it", l.holder)
	}
	return l.write(record, func() error { return l.Interface.Update(ctx, record) })
}

// write records who holds the lease. It refuses to while an unknown leader may hold it, because an elector also writes
// without having read the lease. A lease that is released counts as lost from before the request is sent, because
// others may take it before the response arrives. A write that fails does not renew the lease.
func (l *Lock) write(record resourcelock.LeaderElectionRecord, send func() error) error {
	ours := record.HolderIdentity == l.Identity()
	if ours {
		l.try(record)
		l.longest = max(l.longest, time.Duration(record.LeaseDurationSeconds)*time.Second)
	}
	if l.waits() {
		return errUnknownHolder
	}
	if !ours {
		l.renewed.Store(nil)
	}
	if err := send(); err != nil {
		if !apierrors.IsForbidden(err) {
			l.waitAgain()
		}
		return err
	}
	l.remember(record)
	if ours {
		l.renewed.Store(new(l.tried.at))
	}
	return nil
}

// try notes when a record was first tried to be written. An elector repeats a write that has failed. If the first one
// was stored nevertheless, the second changes nothing, and other candidates measure from the first. The same holds for
// renewals within one second: electors compare records as JSON, which has times in whole seconds.
func (l *Lock) try(record resourcelock.LeaderElectionRecord) {
	if second := record.RenewTime.Unix(); l.tried.at.IsZero() || l.tried.second != second {
		l.tried = try{second, l.now()}
	}
}

// release releases the lease if this process holds it. If an elector ends while it takes the lease, it does not learn
// that it holds it, and the others would have to wait until it expires.
func (l *Lock) release(ctx context.Context) error {
	record, _, err := l.Get(ctx)
	if apierrors.IsNotFound(err) || errors.Is(err, errUnknownHolder) || err == nil && record.HolderIdentity != l.Identity() {
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
