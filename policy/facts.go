package policy

import "time"

// Facts are the inputs of verdicts other than pods, nodes and the configuration. They are immutable once shared. The
// zero value stands for a cluster without trips, pauses and ended holds.
type Facts struct {
	// Namespaces has the labels of namespaces. Only policies with a namespaceSelector ask for them.
	Namespaces Namespaces

	// Tripped are the groups whose breakers are tripped.
	Tripped map[Trip]bool

	// Paused means that no call starts. It counts as a hold.
	Paused bool

	// Unread means that trips of earlier terms of leadership are unknown. Each eviction a breaker may hold is held.
	Unread bool

	// Holds has the holds whose ends count for all pods of their groups: those of earlier terms, and the pause.
	// Verdicts use only the ends: whether a pair is held now follows from the other facts and the policies.
	Holds []HoldRecord

	// HoldsEnded is the latest end among the holds of earlier terms that are not in Holds; zero if there are none.
	HoldsEnded time.Time

	// Began is when each policy with NoSchedule triggers came into force, by name.
	Began map[string]time.Time
}

// Namespaces returns the labels of a namespace, and whether they are known yet. A nil Namespaces knows no labels.
type Namespaces func(name string) (labels map[string]string, known bool)

// Trip names a breaker and the group of nodes whose evictions it holds.
type Trip struct {
	Breaker string `json:"breaker"`
	Group   string `json:"group,omitempty"`
}

// NoGroup is the group of the nodes that lack the label by which nodes are grouped. No label can have this value.
const NoGroup = "<none>"

// GroupOf returns the group of a node with these labels: the value of the label, [NoGroup] if it is missing, and "" if
// there is no key, which makes the whole cluster one group.
func GroupOf(topologyKey string, labels map[string]string) string {
	if topologyKey == "" {
		return ""
	}
	if value, ok := labels[topologyKey]; ok {
		return value
	}
	return NoGroup
}

// lastEnd returns the latest end of the recorded holds that count for the pair; zero if none has ended.
func (f *Facts) lastEnd(p *pair) time.Time {
	last := f.HoldsEnded
	for i := range f.Holds {
		if h := &f.Holds[i]; h.Ended.After(last) && h.counts(p) {
			last = h.Ended
		}
	}
	return last
}
