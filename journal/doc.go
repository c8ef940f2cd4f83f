// Package journal knows since when each taint is on its node.
//
// [Observe] is pure: it takes what was known of a node's taints and what is seen of them now, and
// returns what is known from now on. It reads no clock: the moment of the sighting is an argument.
package journal
