// Package store stores the journal, one leadership term at a time, so that restarts and changes of leader change no
// countdown. [Core] is pure, except that it calls its [Source]; [Keeper] is the goroutine around it.
//
// A new leader reads the partitions and the state once, and applies the records to the taints that it saw in LISTs.
// Then the term begins: the first eviction call is allowed. From then on the leader only writes: a partition when the
// taints of its nodes change, the state every 20 seconds and when guards or the configuration change. It overwrites
// others' changes. Standbys neither read nor write. [ConfigMaps] stores the journal; other stores are possible.
//
// Journal errors delay a term by at most 10 seconds and make no eviction earlier: what can't be read counts as missing,
// and [Keeper.Trouble], the log and the metrics report it.
package store
