// Package leader elects one of several processes as the leader by a Lease, with client-go's LeaderElector, and checks
// with its own clock whether this process still leads.
//
// An elector alone is not sufficient for a manager that deletes pods: it cancels the leader's context only after
// another process may have taken the lease, and recreates a deleted lease although the previous holder may still act.
// [Lock.Fresh] returns false in both cases. The lease is released only after the last call has ended, see [Run].
//
// Let D be the lease duration and R < D the renew deadline. A process acts only while it sent its latest renewal less
// than R ago, and D has passed since it last saw another process renew the lease, unless that one released it.
//
// A program that already has an elector wraps the elector's lock in a [Lock], and leads while both the elector's
// IsLeader and [Lock.Fresh] return true.
package leader
