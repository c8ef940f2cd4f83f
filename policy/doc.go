// Package policy says which pods go, how and when, for which taints (policies), and how much may go at once
// (guards): the types that a configuration file is decoded into, what is refused of them, and the verdict.
//
// [Compile] turns a configuration into a [Set], which is immutable and may be shared. [Set.Decide] judges a pod on
// its node: each pair of the pod and a taint is decided by the first policy that matches it. Without policies the
// verdict is that of [taint.Decide]. What has happened elsewhere, such as breakers that are tripped, comes in as
// [Facts].
//
// It is pure: no client, no clock, no lock, no goroutine. Times are absolute, so that a verdict needs no clock.
package policy
