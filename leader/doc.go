// Package leader elects one of several processes as the leader, by a lease, and checks with its own clock whether this
// process still leads.
//
// An elector of client-go alone is not sufficient for a manager that deletes pods: it cancels the leader's context
// late, after another process may have taken the lease. [Election.Leading] returns false before that can happen: it
// measures from before the latest renewal was sent, by the clock that has run further. A slow response, a suspended
// machine or a changed wall clock therefore cannot cause two leaders. It belongs in Options.Leading of package
// taintmanager, which calls it right before each eviction call.
//
// However a process gets the lease, it does not lead until one lease duration after it last saw another holder renew
// the lease, or found that holder's lease deleted or emptied, unless that holder released the lease. If the Lease is
// deleted, only a process that starts just then can lead next to the old leader, until that leader's next renewal
// fails: a pod may then get a second DELETE.
//
// A program that already has an elector wraps the elector's lock in a [Lock], and leads while both the elector's
// IsLeader and [Lock.Fresh] return true. A program without one uses an [Election], and [Run] to end in order: the lease
// is released only after the last call has ended.
package leader
