// Package faketime makes times whose wall clock and monotonic clock differ, like those of a host whose clock was set,
// or that was suspended. It is for the simulation and for tests.
package faketime

import (
	"time"
	"unsafe"
)

// Of returns a time that carries both a wall clock and a monotonic clock, like the results of [time.Now]. Nothing else
// can make one in which the two differ. A test checks that package time still lays times out like this.
func Of(wall time.Time, monotonic time.Duration) time.Time {
	const (
		hasMonotonic = 1 << 63
		shift        = 30
		year1885     = -2682288000 // as Unix time
	)
	t := struct {
		wall uint64
		ext  int64
		loc  *time.Location
	}{wall: hasMonotonic | uint64(wall.Unix()-year1885)<<shift | uint64(wall.Nanosecond()), ext: int64(monotonic)}
	return *(*time.Time)(unsafe.Pointer(&t))
}
