// Package dispatch decides which due eviction starts its call next. It queues the evictions whose deadlines have
// passed, and limits how many calls are in flight.
//
// [Core.Step] is pure. [Dispatcher] is the lock, the timer and the goroutines around it. Shards offer, withdraw and
// settle evictions (Settle returns a call's outcome); calls start while Lead runs. With N = [CoreOptions.Workers]:
//
//  1. At most N calls are younger than a second, and at most 3N are in flight.
//  2. The namespace with the fewest calls in flight goes next; among equals, a first attempt before a repeat, then the
//     namespace that was served longest ago. A namespace that had no candidate and no call counts as just served.
//  3. A namespace takes at most half of the free places.
//
// Only candidates that rules 1 and 3 and all their rates admit are considered. In a namespace, nodes take turns; among
// the candidates of a node, deadline, priority and UID decide. The next node is read during the turn before. The
// namespace that was served longest ago gets the next token of a rate, and the next call if CallsPerSecond limits all
// calls. Pods of this program wait until no other candidate waits, but for at most [OwnAfter], and are evicted one at a
// time.
//
// Invariants: young <= N; inflight <= 3N; after a time without calls, inflight ramps up: <= 4 + t/4ms; at each start,
// not counting it, 2*inflight(ns) < 3N - inflight; in any w seconds tokens(rate, w) <= burst + evictionsPerSecond*w +
// tokens given back. No offer is forgotten before it is withdrawn or its outcome is settled. No call starts while this
// process does not lead, while calls are paused, or during an outage, in which GETs of a node probe the API server.
package dispatch
