package foresight

import "time"

// Reading is what is known of how the objects were read.
type Reading struct {
	// At is when the objects were read. A question about a later time takes into account which breakers are reset until
	// then. Zero: at the time of the question.
	At time.Time

	// Aged is a note that At is long ago, for questions about At; empty if it is not.
	Aged string

	// From names the source in messages, such as "the cluster".
	From string

	// Dumped is set if an object that is missing may only be missing from a dump.
	Dumped bool

	// Hidden is the verb that this user may not use on nodes, get or list: then the nodes are those of the journal.
	// Empty if nodes were read.
	Hidden string

	// Partial is set if some nodes of the cluster were not read. Breakers compare affected nodes with all nodes, so
	// only trips that the journal records count then.
	Partial bool

	// NamespacesRefused says why namespaces were not read; empty if they were, or are not needed.
	NamespacesRefused string

	// Journal has the partitions of the tainted nodes and that of the guards. If the nodes are hidden, it has all.
	Journal *Journal

	// Notes concern what was not read.
	Notes []string
}
