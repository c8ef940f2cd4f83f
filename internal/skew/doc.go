// Package skew measures how far this process's clock is ahead of the API server's, from the Date header of its
// responses.
//
// An [Interval] bounds what the API server's clock shows; it is pure. A [Clock] updates one from the responses to a
// client. [Clock.Ahead] is meant for the manager's option Ahead: it shortens ages that come from times of the API, so
// that a clock that is ahead makes no eviction earlier.
package skew
