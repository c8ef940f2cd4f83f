// Package differential compares this controller with the original one, side by side and in one process. It is a
// module of its own, because the original is part of k8s.io/kubernetes.
//
// Its tests show that on random histories both controllers evict the same pods at the same times, except where a
// documented correction applies; there, this controller does what docs/semantics.md says.
package differential
