// Package journal knows since when each taint is on its node.
//
// [NodeHistory] is what a process knows of a node's taints: what it has seen itself, by [NodeHistory.Observe], and
// what it was told by a record, by [NodeHistory.Adopt]. Both are kept apart, and what they come to is made from
// them anew at each change. [Encode] and [Decode] are the form in which records are kept. All are pure:
// they read no clock, and the moment is an argument.
package journal
