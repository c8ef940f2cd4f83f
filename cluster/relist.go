package cluster

import "time"

const (
	firstRelist = time.Second
	maxRelist   = time.Minute
)

// relist delays the next list after lists that were cut off. The API server has worked for such a list as for any
// other, so a client that repeats it without a pause is a load. A list without a response costs the server nothing.
type relist struct {
	begun bool // the response to the current list has begun, and is not complete
	last  time.Duration
}

// pause returns how long to wait before a new list.
func (r *relist) pause() time.Duration {
	if !r.begun {
		return 0
	}
	r.begun = false
	r.last = min(max(firstRelist, 2*r.last), maxRelist)
	return r.last
}

// completed notes that a list is complete.
func (r *relist) completed() { *r = relist{} }
