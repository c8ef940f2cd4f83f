// Package store keeps the journal: since when each taint is on its node, so that a restart changes no
// countdown.
//
// A [Keeper] takes care of the partitions. It reads them before the first decision and betters by them what
// is known of the nodes. While it stands by it takes over what the leader writes. While it leads it
// writes each partition whose nodes' taints have changed, at most once a second, from what is known of the
// nodes that are there now; so what is gone goes from the journal, too. [ConfigMaps] is where partitions are
// stored; others may be.
//
// Whatever is wrong with the journal, nothing waits for it, and nobody is evicted earlier for it: what
// can't be read or makes no sense counts as not recorded, and [Keeper.Trouble], the log and the metrics
// say so.
package store
