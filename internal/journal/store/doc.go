// Package store keeps the journal by term, so that a restart or a change of leader changes no countdown.
//
// [Core] is pure, except that it calls its [Source]: [Core.Step] takes one input, such as the answer to a read, and
// returns the effects, such as the writes to make. [Keeper] is the goroutine around it.
//
// A process that begins to lead reads the partitions and the state once, and lets the records explain what it has found
// in its lists of nodes. Then the term begins: the first call is allowed. From then on it only writes: a partition when
// the taints of its nodes change, the state every 20 seconds and when guards or the configuration change. It replaces
// what others write, and standbys do neither. [ConfigMaps] stores the journal; other stores are possible.
//
// No problem of the journal delays a term by more than 10 seconds or makes an eviction earlier: what can't be read
// counts as missing, and [Keeper.Trouble], the log and the metrics report it.
package store
