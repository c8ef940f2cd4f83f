// Package policy says which pods go, how and when, for which taints (policies), and how much may go at once
// (guards): the types that a configuration file is decoded into, and what is refused of them.
//
// It is pure. It judges nothing yet: no pod's verdict depends on it.
package policy
