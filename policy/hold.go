package policy

import "time"

// HoldScope describes something that holds evictions: a policy with the method Hold, a breaker that is tripped, or a
// pause. An ended hold is recorded with its scope, because the configuration may have changed since: deleteAfter
// counts from its end.
type HoldScope struct {
	// By names the hold, such as "policy quarantine".
	By string `json:"by"`

	// Match selects the pairs that it holds; nil selects all. It may select more pairs than were held: then
	// deletions are later, never earlier.
	Match *Match `json:"match,omitempty"`

	// TopologyKey and Group are set for a breaker.
	TopologyKey string `json:"topologyKey,omitempty"`
	Group       string `json:"group,omitempty"`

	// Before is a fingerprint of the policies before the one that holds.
	Before string `json:"before,omitempty"`
}

// EndedHold is an ended hold in compiled form.
type EndedHold struct {
	at          time.Time
	all         bool
	match       matcher
	topologyKey string
	group       string
}

// NewEndedHold returns the hold as one that ended at that moment. If the scope is not valid, it selects all pairs.
func NewEndedHold(h HoldScope, at time.Time) EndedHold {
	e := EndedHold{at: at, all: true, topologyKey: h.TopologyKey, group: h.Group}
	if h.Match == nil {
		return e
	}
	var all []Problem
	if h.Match.validate(problems{all: &all}); len(all) > 0 {
		return EndedHold{at: at, all: true}
	}
	e.all, e.match = false, newMatcher(h.Match)
	e.match.anyOwner = true
	return e
}

// held reports whether the hold may have held the pair. A namespace that is not known counts as a match.
func (e *EndedHold) held(p pair, of Namespaces) bool {
	if e.topologyKey != "" && GroupOf(e.topologyKey, p.node.Labels) != e.group {
		return false
	}
	return e.all || e.match.fits(p, of) != fitsNot
}
