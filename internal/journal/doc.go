// Package journal determines the start of each taint on its node. It is pure: it reads no clock; time is an argument.
//
// [NodeHistory.Observe] takes each version of a node, in order. A history has presences: uninterrupted stays of a
// taint, each with the states (values) of the taint. Histories are immutable. A new leader reads the previous leader's
// records: [NodeHistory.ApplyRecord] takes from a record the start of each taint that this process first saw in a LIST,
// once it has seen the node at the record's version. [Encode] and [Decode] convert partitions (one ConfigMap each, for
// a share of the nodes) to and from stored form, [EncodeState] and [DecodeState] the manager-wide state (one more).
package journal
