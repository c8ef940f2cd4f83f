// Package dispatch decides whose turn it is: it holds every eviction whose deadline has passed, and all capacity for
// calls.
//
// With N = [CoreOptions.Workers], the rules are:
//
//  1. At most N calls are younger than a second, and at most 3N are in flight.
//  2. The namespace with the fewest calls in flight goes next; among equals, a first attempt before a repeat, then the
//     namespace that was served longest ago. A namespace that returns counts as served then.
//  3. A namespace takes at most half of the free places.
//
// Only candidates count that rules 1 and 3 and all their tokens admit. In a namespace, nodes take turns, then deadline,
// priority and UID decide. Tokens of a rate go round: the namespace that was served longest ago gets the next one.
//
// Invariants: young <= N and inflight <= 3N, and at each start 2*(inflight(ns)-1) < 3N - (inflight-1); in any window of
// w seconds, tokens(rate, w) <= burst + evictionsPerSecond*w + tokens given back. Nothing that was offered is forgotten
// before it is withdrawn or its outcome is settled. No call starts while this process does not lead, while calls are
// paused, or in an outage, in which GETs of a node ask whether the API server is back.
package dispatch
