package leader

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// unledAfter is how long no process must have led until [Election.Unled] returns an error, if it is longer than two
// durations of the lease: a leader renews within one of them, and this process sees that within another.
const unledAfter = time.Minute

// observations are what the electors of this process have seen of the lease.
type observations struct {
	mu      sync.Mutex
	latest  metav1.Time // the time of renewal in the last record, by its holder's clock
	renewed time.Time   // when a new time of renewal was seen last, or when this process became a candidate
	read    time.Time   // when the lease was read or written last
}

// begin notes that this process is a candidate.
func (o *observations) begin(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.renewed.IsZero() {
		o.renewed, o.read = now, now
	}
}

// note notes the result of a request of an elector. An error means that there is no record.
func (o *observations) note(now time.Time, record *resourcelock.LeaderElectionRecord, err error) {
	if err != nil && !apierrors.IsNotFound(err) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.read = now
	if err == nil && !record.RenewTime.Equal(&o.latest) {
		o.latest, o.renewed = record.RenewTime, now
	}
}

func (o *observations) unled(now time.Time, patience time.Duration) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	since := now.Sub(o.renewed)
	switch {
	case o.renewed.IsZero() || since < patience:
		return nil
	case now.Sub(o.read) >= patience:
		return fmt.Errorf("no process was seen to lead for %s: this process can't read the lease; its log says why",
			since.Round(time.Second))
	}
	return fmt.Errorf("no process has led for %s: nobody renews the lease, and this process can't take it; its log says why", since.Round(time.Second))
}

// Unled returns nil unless this process has been a candidate for a minute, and has not seen for a minute that any
// process, this one included, renews the lease. With leases of more than 30 s it is two of their durations instead of a
// minute. The error names neither servers nor processes, so that it may be shown to everybody.
func (e *Election) Unled() error {
	return e.seen.unled(time.Now(), max(unledAfter, 2*e.config.LeaseDuration.Duration))
}

// observedLock is a lock of an elector that notes what the elector sees.
type observedLock struct {
	resourcelock.Interface
	seen *observations
}

// Get returns the lease's record.
func (o observedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := o.Interface.Get(ctx)
	o.seen.note(time.Now(), record, err)
	return record, raw, err
}

// Create creates the lease.
func (o observedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	err := o.Interface.Create(ctx, record)
	if err == nil {
		o.seen.note(time.Now(), &record, nil)
	}
	return err
}

// Update writes the lease.
func (o observedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	err := o.Interface.Update(ctx, record)
	if err == nil {
		o.seen.note(time.Now(), &record, nil)
	}
	return err
}
