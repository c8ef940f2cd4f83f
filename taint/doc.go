// Package taint decides whether a pod may stay on its node.
//
// It is pure: no client, no clock, no lock, no goroutine. [Decide] takes values and returns a
// [Verdict]: stay (and why), or evict at an absolute time because of one taint. As the time is
// absolute, the same inputs give the same verdict whenever they are asked.
//
// Every taint that [Decide] judges has the effect NoExecute: [Node.Taints] holds no others. Values handed to this package are read and never written, so pods, nodes and
// verdicts may share memory and may be used by any number of goroutines.
//
// The rules are those of docs/semantics.md; each test names the rule it checks.
package taint
