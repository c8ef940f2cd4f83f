// Package taint decides whether a pod may stay on its node.
//
// It is pure: no client, no clock, no lock, no goroutine. [Decide] takes values and returns a [Verdict]: stay (and
// why), or evict at an absolute time because of one taint. Because the time is absolute, the same inputs always give
// the same verdict.
//
// Every taint that [Decide] judges has the effect NoExecute: [Node.Taints] has no others. The package never writes to
// the values that it receives, so pods, nodes and verdicts may share memory, and any number of goroutines may use them.
//
// The rules are those of docs/semantics.md; each test names the rule it checks.
package taint
