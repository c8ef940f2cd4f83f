// Package evictionqueue holds the evictions that wait for their time, and decides which one is next.
//
// A [Heap] is pure: no clock, no client, no lock, no goroutine. It is keyed by pod UID. What is due
// stays in it, where it can be cancelled and moved, until it is popped; nothing waits anywhere else.
// A [Queue] is a Heap with one timer round it. Both belong to one goroutine, the shard's.
//
// # Order
//
// Nodes with due entries take turns. A node that becomes due is a newcomer; once served it is a
// regular; with nothing due any more it leaves. Newcomers and regulars are served by turns, an
// entry each, so that a single pod waits for newcomers at most, and regulars never wait for
// newcomers alone. Newcomers come in the order in which they became due, and of one moment in that
// of their first entries. A regular has up to eight entries served before it goes to the end of the
// regulars, so that what its caller does once for a node serves several. Within a node, the
// earliest deadline goes first, then the higher priority, then the lesser UID. So the order depends
// on the calls made alone.
//
// # Times
//
// Times are compared as package time does it: by the monotonic clock where both have a reading, by
// the wall clock otherwise. Any time is a legal deadline, from the year 1 to the year 9999.
//
// # Cost
//
// With n entries, adding, moving, cancelling and popping one take O(log n), where a node's joining
// of the round robin counts to the Set that made it possible: the first PopDue after many nodes have
// become due at once does the work of all. An entry takes 60 to 150 bytes, beside the UID's own and
// what B points to; the benchmarks measure it. Memory follows the number of entries down
// as well as up, except that 56 bytes remain for each of the most nodes that had entries at one
// time, until the heap is empty.
package evictionqueue
