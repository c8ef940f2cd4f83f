// Package store keeps the journal, which holds the start of each taint, so that a restart does not change a countdown.
//
// [Core] is pure, except that it calls its [Source]: [Core.Step] takes one input, such as what the watch of a partition
// shows, and returns the effects, such as the writes to make. [Keeper] is the goroutine around it.
//
// A keeper reads the partitions before the first decision and merges them into what is known of the
// nodes. On a standby it adopts what the leader writes. On the leader it writes each partition whose nodes' taints have
// changed, at most once a second. It writes the nodes that exist at that moment, so nodes and taints that are gone
// disappear from the journal. [ConfigMaps] stores the partitions; other stores are possible.
//
// No problem of the journal delays anything for long, and none makes an eviction earlier: what cannot be read or is
// invalid counts as not recorded, and [Keeper.Trouble], the log and the metrics report it.
package store
