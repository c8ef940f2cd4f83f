// Package journal determines the start of each taint on its node.
//
// [NodeHistory] holds a node's taints: what the process has observed, by [NodeHistory.Observe], and what records say,
// by [NodeHistory.Adopt]. Both are kept apart, and are merged at each change. [Encode] and [Decode] convert records
// to and from their stored form. All are pure: they read no clock, and the time is an argument.
package journal
