// Package journal determines the start of each taint on its node.
//
// [NodeHistory.Observe] takes each version of a node, in order. A new leader reads the previous leader's records:
// [NodeHistory.ApplyRecord] takes from a record the start of each taint that this process first saw in a LIST, once it
// has seen the node at the record's version. Histories are immutable. [Encode], [Decode], [EncodeState] and
// [DecodeState] convert partitions (one ConfigMap each, for a share of the nodes) and the manager-wide state (one more)
// to and from their stored form. All are pure: they read no clock, and the time is an argument.
package journal
