package policy

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// ByPause is the value of HoldRecord.By for a pause.
const ByPause = "pause"

// HoldRecord is the record of one hold: of a policy with the method Hold, of a breaker in one group of nodes, or of the
// pause. For all pods on nodes of the group that have a taint of the hold, deleteAfter counts from the end of the hold,
// even for pods that were not held.
type HoldRecord struct {
	// By names the policy, the breaker or the pause: "policy quarantine".
	By string `json:"by"`

	// Taints are the taints for which the hold counts; nil means all.
	Taints []KeyPattern `json:"taints,omitempty"`

	// TopologyKey and Group are set for a breaker.
	TopologyKey string `json:"topologyKey,omitempty"`
	Group       string `json:"group,omitempty"`

	// Holds reports whether the hold is in force.
	Holds bool `json:"holds,omitempty"`

	// Ended is when the hold last ended; zero if it has not ended yet.
	Ended time.Time `json:"ended,omitzero"`
}

// KeyPattern selects taints by their key, or by the beginning of their key. The zero value selects all taints but
// out-of-service.
type KeyPattern struct {
	Key    string `json:"key,omitempty"`
	Prefix string `json:"keyPrefix,omitempty"`
}

func (k KeyPattern) selects(key string) bool {
	if k.Key != "" {
		return k.Key == key
	}
	return strings.HasPrefix(key, k.Prefix) && key != v1.TaintNodeOutOfService
}

// Same reports whether two records are of the same hold. A hold with other taints is a different hold.
func (h *HoldRecord) Same(other *HoldRecord) bool {
	return h.By == other.By && h.TopologyKey == other.TopologyKey && h.Group == other.Group &&
		slices.Equal(h.Taints, other.Taints)
}

// counts reports whether the end of the hold delays the pair's deletion.
func (h *HoldRecord) counts(p *pair) bool {
	if h.TopologyKey != "" && GroupOf(h.TopologyKey, p.node.Labels) != h.Group {
		return false
	}
	return len(h.Taints) == 0 || slices.ContainsFunc(h.Taints,
		func(k KeyPattern) bool { return k.selects(p.taint.Key) })
}

// Holds returns a record of each hold in force: of each policy that holds pods, of each trip, and of the pause.
// holding maps the name of a policy to the number of pods that it holds.
func (c *Config) Holds(holding map[string]int, trips map[Trip]bool, paused bool) []HoldRecord {
	var all []HoldRecord
	for i := range c.Policies {
		if p := &c.Policies[i]; p.Method == Hold && p.Mode != Audit && holding[p.Name] > 0 {
			all = append(all, HoldRecord{By: "policy " + p.Name, Taints: p.Match.keys(), Holds: true})
		}
	}
	for i := range c.Guards.Breakers {
		all = append(all, c.Guards.Breakers[i].holds(trips)...)
	}
	if paused {
		all = append(all, HoldRecord{By: ByPause, Holds: true})
	}
	return all
}

// holds returns a record for each group that is tripped, sorted by group.
func (b *Breaker) holds(trips map[Trip]bool) (all []HoldRecord) {
	of := HoldRecord{By: "breaker " + b.Name, TopologyKey: b.TopologyKey, Holds: true}
	for _, t := range b.Taints {
		of.Taints = append(of.Taints, KeyPattern{Key: t.Key})
	}
	for t, tripped := range trips {
		if tripped && t.Breaker == b.Name {
			of.Group = t.Group
			all = append(all, of)
		}
	}
	slices.SortFunc(all, func(x, y HoldRecord) int { return cmp.Compare(x.Group, y.Group) })
	return all
}

// keys returns the keys of the taints of the match.
func (m *Match) keys() (all []KeyPattern) {
	for _, t := range m.taints() {
		if key := (KeyPattern{t.Key, t.KeyPrefix}); !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}
