// Package skew measures how far this process's clock is ahead of the API server's, by the Date header of its
// answers.
//
// An [Interval] bounds what the API server's clock shows; it is pure. A [Clock] feeds one from the answers that a
// client gets. [Clock.Ahead] is what the manager's option Ahead asks for: ages that are taken from times of the API
// are shortened by it, so that a clock that is ahead makes no eviction earlier.
package skew
