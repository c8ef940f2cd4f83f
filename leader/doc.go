// Package leader elects one of several processes as the leader, by a lease, and checks with its own clock whether this
// process still leads.
//
// An elector of client-go alone is not sufficient for a manager that deletes pods: it cancels the leader's context
// late, after another process may have taken the lease. [Election.Leading] returns false before that can happen: it
// measures from before the latest renewal was sent, by the clock that has run further. A slow response, a suspended
// machine or a changed wall clock therefore cannot cause two leaders. It belongs in Options.Leading of package
// taintmanager, which calls it right before each eviction call.
//
// A lease that was deleted or emptied belongs to the leader that held it: that leader writes its record back, and every
// other process waits for the lease duration before it takes the lease, also the first process after an installation.
//
// [Election.Yield] gives the lease back while the process goes on, so that another process evicts its pod. It belongs
// in Options.Yield.
//
// A program that already has an elector wraps the elector's lock in a [Lock], and leads while both the elector's
// IsLeader and [Lock.Fresh] return true. A program without one uses an [Election], and [Run] to end in order: the lease
// is released only after the last call has ended.
package leader
