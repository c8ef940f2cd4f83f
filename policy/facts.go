package policy

import "time"

// Facts are the inputs of verdicts beside pods, nodes and the configuration. They are immutable once shared. The zero
// value stands for a cluster without trips, pauses and ended holds.
type Facts struct {
	// Namespaces has the labels of namespaces. Only policies with a namespaceSelector ask for them.
	Namespaces Namespaces

	// Tripped are the groups whose breakers are tripped.
	Tripped map[Trip]bool

	// Paused means that no call starts. It counts as a hold.
	Paused bool

	// Ended are the holds that have ended.
	Ended []EndedHold

	// Unknown, if not zero, is the end of all earlier holds: the record of their real ends cannot be read.
	Unknown time.Time
}

// Namespaces returns the labels of a namespace; known is false until the namespace is known. Nil knows none.
type Namespaces func(name string) (labels map[string]string, known bool)

func (n Namespaces) labels(name string) (map[string]string, bool) {
	if n == nil {
		return nil, false
	}
	return n(name)
}

// Trip names a breaker and the group of nodes whose evictions it holds.
type Trip struct {
	Breaker string `json:"breaker"`
	Group   string `json:"group,omitempty"`
}

// NoGroup is the group of the nodes that lack the label by which nodes are grouped. It is no label's value.
const NoGroup = "<none>"

// GroupOf returns the group of a node with these labels: the value of the label, [NoGroup] if it is missing, and ""
// if there is no key, as the whole cluster is one group then.
func GroupOf(topologyKey string, labels map[string]string) string {
	if topologyKey == "" {
		return ""
	}
	if value, ok := labels[topologyKey]; ok {
		return value
	}
	return NoGroup
}

func (f *Facts) tripped(t Trip) bool { return f != nil && f.Tripped[t] }

func (f *Facts) namespaces() Namespaces {
	if f == nil {
		return nil
	}
	return f.Namespaces
}

// lastEnd returns when the last recorded hold of the pair ended, or Unknown if that is later. It is zero if there was
// none.
func (f *Facts) lastEnd(p pair) time.Time {
	if f == nil {
		return time.Time{}
	}
	last := f.Unknown
	for i := range f.Ended {
		if e := &f.Ended[i]; e.at.After(last) && e.held(p, f.Namespaces) {
			last = e.at
		}
	}
	return last
}

func (f *Facts) paused() bool { return f != nil && f.Paused }
