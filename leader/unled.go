package leader

import (
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// unledAfter is how long no process must have led before [Election.Unled] returns an error. The time is at least two
// lease durations: a leader renews the lease within one duration, and this process reads the lease within another one.
const unledAfter = time.Minute

// observations are the times at which a lock has observed its lease. Any goroutine may call their methods.
type observations struct {
	mu      sync.Mutex
	latest  metav1.Time // the time of renewal in the last record, by its holder's clock
	renewed time.Time   // when a new time of renewal was observed last, or when this process became a candidate
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

// note notes a record that was read or written.
func (o *observations) note(now time.Time, record *resourcelock.LeaderElectionRecord) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.read = now; !record.RenewTime.Equal(&o.latest) {
		o.latest, o.renewed = record.RenewTime, now
	}
}

// unled returns an error if no process was observed to lead for the time patience.
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
// process, including itself, renews the lease. For leases of more than 30 s, the time is two lease durations instead of
// a minute. The error names neither servers nor processes, so that it may be shown to everybody.
func (e *Election) Unled() error {
	return e.lock.observations.unled(e.lock.now(), max(unledAfter, 2*e.settings.LeaseDuration.Duration))
}
