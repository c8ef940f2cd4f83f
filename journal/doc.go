// Package journal knows since when each taint is on its node.
//
// [Observe] takes what was known of a node's taints and what is seen of them now, and returns what is
// known from now on. [Adopt] betters what is known by what was recorded. [Encode] and [Decode] are the
// form in which records are kept. All are pure: they read no clock, and the moment is an argument.
package journal
