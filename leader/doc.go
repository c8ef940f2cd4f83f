// Package leader elects one of several processes as the leader, by a lease, and knows by a clock of its own whether
// this process still leads.
//
// An elector of client-go alone does not suffice for a manager that deletes pods: it cancels the leader's context
// late, after another process may have taken the lease. [Election.Leading] reports false before that can happen: it
// counts from before the latest renewal was sent, by the clock that has run further, so that a slow answer, a
// suspended machine and a wall clock that is set do not make two leaders. It belongs in Options.Leading of package
// taintmanager, which asks it right before each eviction call.
//
// A program with an elector of its own wraps that elector's lock in a [Lock], and leads while both the elector's IsLeader
// and [Lock.Fresh] report true. A program without one uses an [Election], and [Run] to end in order: the lease is given
// back only after the last call has ended.
package leader
