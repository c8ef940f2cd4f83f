package journal

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// Observation is one look at a node.
type Observation struct {
	// Taints of the node now; those whose effect is not NoExecute are passed over.
	Taints []v1.Taint

	// At is the moment of the look. It carries the monotonic clock, so that what is derived from
	// it does not move when the wall clock is set.
	At time.Time

	// Ahead is by how much an age is too long that is taken from a time of the API and At: as far as this process's
	// clock is ahead of the API server's, and 0 where they are in step.
	Ahead time.Duration

	// Created is the node's creation time by the API server's clock.
	Created time.Time

	// Version is the node's resourceVersion, and Before the one at the look before; empty when this is
	// the first look at the node.
	Version, Before string

	// Gap says that the node may have changed unseen since what is known of it was so: at the first
	// list of a process, or when a watch could not go on where it broke off. A taint's timeAdded then
	// tells what was missed. Otherwise the process saw the taint appear, and timeAdded tells nothing.
	Gap bool

	// Watched, with Gap, is the last moment at which somebody is known to have watched the node;
	// zero when nobody is.
	Watched time.Time

	// Unknown, with Gap, is the moment from which a taint counts whose timeAdded tells nothing. Zero
	// is the moment of the look, the latest that it can be.
	Unknown time.Time

	// Distinguishes reports whether some pod of the node tolerates one of two states without a limit, and the
	// other one not. Nil: any two states may differ in that.
	Distinguishes func(a, b *v1.Taint) bool
}

// listedSince is the taint's timeAdded where it can be believed, else the moment of the sighting.
// API times are whole seconds, cut off: the next one is taken, so that nothing is early. That may not
// have come yet; then the moment of the sighting is late enough.
func (s *Observation) listedSince(t *v1.Taint) time.Time {
	if t.TimeAdded == nil || t.TimeAdded.After(s.At.Add(-s.Ahead)) || t.TimeAdded.Time.Before(s.Created) {
		return s.unknown()
	}
	since := s.moment(t.TimeAdded.Time)
	if since.After(s.At) {
		since = s.At
	}
	if since.Before(s.Watched) {
		return s.unknown() // it was not there then
	}
	return since
}

// moment is that of a time of the API, rounded up, on this process's monotonic clock.
func (s *Observation) moment(t time.Time) time.Time {
	return s.At.Add(NextSecond(t).Sub(s.At)).Add(s.Ahead)
}

func (s *Observation) unknown() time.Time {
	if s.Unknown.IsZero() {
		return s.At
	}
	return s.Unknown
}

// NextSecond is the second after the one that t was cut off to: the earliest moment that is
// certainly not before the one that an API timestamp stands for.
func NextSecond(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) }
