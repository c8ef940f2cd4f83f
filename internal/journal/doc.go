// Package journal determines the start of each taint on its node.
//
// [NodeHistory] holds a node's taints as this process has observed them, by [NodeHistory.Observe]. A process that
// begins to lead reads the records of its predecessors, which explain the taints that it has found in a list, by
// [NodeHistory.Explain]. [Encode], [Decode], [EncodeState] and [DecodeState] convert partitions and the state to and
// from their stored form. All are pure: they read no clock, and the time is an argument.
package journal
