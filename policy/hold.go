package policy

import "time"

// HoldScope is something that holds evictions: a policy with the method Hold, a breaker that is tripped, or a pause. One that
// has ended is recorded with its scope, as the configuration may have changed since: deleteAfter counts from its end.
type HoldScope struct {
	// By names what holds, such as "policy quarantine".
	By string `json:"by"`

	// Match are the pairs that it holds; nil: all. It may be wider than what was held: an end that counts for too
	// many pairs makes deletions later, never earlier.
	Match *Match `json:"match,omitempty"`

	// TopologyKey and Group are those of a breaker.
	TopologyKey string `json:"topologyKey,omitempty"`
	Group       string `json:"group,omitempty"`

	// Before is a fingerprint of the policies before the one that holds.
	Before string `json:"before,omitempty"`
}

// EndedHold is a hold that has ended, in the form in which it is asked.
type EndedHold struct {
	at          time.Time
	all         bool
	match       matcher
	topologyKey string
	group       string
}

// NewEndedHold returns the hold as one that ended at that moment. A scope that is not valid counts as all
// pairs.
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

// held reports whether the hold may have held the pair. A namespace that is not known counts as one that matches.
func (e *EndedHold) held(p pair, of Namespaces) bool {
	if e.topologyKey != "" && GroupOf(e.topologyKey, p.node.Labels) != e.group {
		return false
	}
	return e.all || e.match.fits(p, of) != fitsNot
}
