// Package store keeps the journal, which holds the start of each taint, so that a restart does not change a countdown.
//
// [Core] is pure, except that it calls its [Source]: [Core.Step] takes one input, such as what the watch of a partition
// shows, and returns the effects, such as the writes to make. [Keeper] is the goroutine around it.
//
// A keeper reads the partitions before the first decision and merges them into the histories of the nodes. On a standby
// it adopts the leader's writings. On the leader it writes each partition whose nodes' taints have
// changed, at most once a second. It writes the nodes that exist at that moment, so nodes and taints that are gone
// disappear from the journal. [ConfigMaps] stores the partitions; other stores are possible.
//
// No problem of the journal delays anything for long or makes an eviction earlier: unreadable and invalid records count
// as missing, and [Keeper.Trouble], the log and the metrics report it.
package store
