// Package policy decides which pods are evicted, how, when and because of which taints (policies), and limits how many
// at once (guards: rates and breakers). It has the types of a configuration file, their validation, and the verdict.
//
// [Compile] turns a configuration into a [Set], which is immutable and may be shared. [Judge.Decide] returns the
// verdict for a pod on its node: the first policy that matches a pair of the pod and a taint decides it. Without
// policies the verdict is that of [taint.Decide]. Facts that change at run time, such as tripped breakers, are passed
// as [Facts].
//
// It is pure: no client, no clock, no lock, no goroutine. Times are absolute, so a verdict needs no clock.
package policy
