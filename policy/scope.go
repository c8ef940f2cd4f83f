package policy

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
)

// ByPause is the value of HoldScope.By for a pause.
const ByPause = "pause"

// Holds returns the present holds: each policy with the method Hold, each trip, and the pause. A hold that is no
// longer among them has ended.
func (c *Config) Holds(trips map[Trip]bool, paused bool) []HoldScope {
	var all []HoldScope
	for i := range c.Policies {
		if p := &c.Policies[i]; p.Method == Hold && p.Mode != Audit {
			all = append(all, HoldScope{By: "policy " + p.Name, Match: &p.Match, Before: fingerprint(c.Policies[:i])})
		}
	}
	for i := range c.Guards.Breakers {
		b := &c.Guards.Breakers[i]
		var groups []string
		for t, tripped := range trips {
			if tripped && t.Breaker == b.Name {
				groups = append(groups, t.Group)
			}
		}
		slices.Sort(groups)
		for _, group := range groups {
			all = append(all, b.hold(group))
		}
	}
	if paused {
		all = append(all, HoldScope{By: ByPause})
	}
	return all
}

func (b *Breaker) hold(group string) HoldScope {
	match := Match{NodeSelector: b.NodeSelector}
	for _, t := range b.Taints {
		match.Taints = append(match.Taints, Taint{Key: t.Key, Effects: []v1.TaintEffect{v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule}})
	}
	return HoldScope{By: "breaker " + b.Name, Match: &match, TopologyKey: b.TopologyKey, Group: group}
}

// fingerprint identifies the policies before one that holds. If they change, they may decide pairs of that policy,
// and so release them.
func fingerprint(before []Policy) string {
	matches := []Match{}
	for i := range before {
		if before[i].Mode != Audit {
			matches = append(matches, before[i].Match)
		}
	}
	text, err := json.Marshal(matches)
	if err != nil {
		text = nil // a Match always has a JSON form
	}
	hash := fnv.New64a()
	_, _ = hash.Write(text) // never fails
	return strconv.FormatUint(hash.Sum64(), 36)
}

// Same reports whether two holds hold the same pairs for the same reason.
func (h *HoldScope) Same(other *HoldScope) bool {
	if h.By != other.By || h.TopologyKey != other.TopologyKey || h.Group != other.Group || h.Before != other.Before {
		return false
	}
	a, errA := json.Marshal(h.Match)
	b, errB := json.Marshal(other.Match)
	return errA == nil && errB == nil && slices.Equal(a, b)
}
