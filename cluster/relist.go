package cluster

import "time"

const (
	firstRelist = time.Second
	maxRelist   = time.Minute
)

// relist spaces the lists that break off. The API server has worked for such a list as for any other, so
// that a client that asks again and again is a load. A list that is not answered costs it nothing.
type relist struct {
	begun bool // the answer to the present list has begun, and has not come to its end
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

// completed notes that a list has come to its end.
func (r *relist) completed() { *r = relist{} }
