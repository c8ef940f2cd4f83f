// Package device decides, as device-taint-eviction-controller of kube-controller-manager does, which pods are deleted
// because of taints of the devices that they use, and when. It evicts nothing.
//
// [Cluster.Pairs] follows a pod to the claims that are reserved for its UID, to their devices, and to these devices'
// NoExecute taints, set by rules or in the newest generation of the pool. All matching tolerations count, and the one
// with the fewest seconds decides. A deadline is the taint's timeAdded plus these seconds; the earliest one counts.
package device

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// Pair is a device that a pod uses, and a NoExecute taint of that device.
type Pair struct {
	Claim       *Claim // by which the pod uses the device
	Device      ID
	Rule, Slice string // what has set the taint; both are empty if it is only planned

	taint.Verdict // because of this taint alone
}

// Because returns the reason: the taint, the toleration, the device, the claim, and what has set the taint.
func (p *Pair) Because() string {
	verdict := p.Verdict
	verdict.Evict = true // to name the toleration
	reason := verdict.Because() + "; device " + p.Device.String() + " of claim " + p.Claim.Name + " has the taint"
	switch {
	case p.Rule != "":
		reason += " by DeviceTaintRule " + p.Rule
	case p.Slice != "":
		reason += " in ResourceSlice " + p.Slice
	}
	return reason
}

// Pairs returns the pairs of a pod, the earliest deadline first, and last those that do not evict. A taint without
// timeAdded counts from now; no API server stores such a taint.
func (c *Cluster) Pairs(pod types.UID, v Version, now time.Time) []Pair {
	var evicting, tolerated []Pair
	for _, claim := range c.claims[pod] {
		if claim.Extended && v < extendedSince {
			continue
		}
		for _, d := range claim.Devices {
			add := func(t v1.Taint, rule, slice string) {
				p := Pair{claim, d.ID, rule, slice, decide(&t, d.Tolerations, v, now)}
				switch {
				case t.Effect != v1.TaintEffectNoExecute:
				case p.Evict:
					evicting = append(evicting, p)
				default:
					tolerated = append(tolerated, p)
				}
			}
			for _, r := range c.rules {
				if r.Selects(d.ID) {
					add(r.Taint, r.Name, "")
				}
			}
			for _, s := range c.pools[d.pool()] {
				for _, t := range s.Taints[d.ID] {
					add(t, "", s.Name)
				}
			}
		}
	}
	slices.SortStableFunc(evicting, func(a, b Pair) int { return a.At.Compare(b.At) })
	return append(evicting, tolerated...)
}

// decide returns the verdict because of one taint.
func decide(t *v1.Taint, tolerations []v1.Toleration, v Version, now time.Time) taint.Verdict {
	verdict := taint.Verdict{Taint: t, Start: cmp.Or(t.TimeAdded, new(metav1.NewTime(now))).Time}
	seconds := int64(0)
	for i := range tolerations {
		switch toleration := &tolerations[i]; {
		case !tolerates(toleration, t, v):
		case toleration.TolerationSeconds == nil:
			verdict.Toleration, verdict.Stay = toleration, taint.Tolerated
			return verdict
		case verdict.Toleration == nil || max(0, *toleration.TolerationSeconds) < seconds:
			verdict.Toleration, seconds = toleration, max(0, *toleration.TolerationSeconds)
		}
	}
	verdict.Evict = true
	verdict.At = verdict.Start.Add(time.Duration(seconds) * time.Second) // overflows after 292 years, as in Kubernetes
	return verdict
}

// tolerates reports whether a toleration matches a NoExecute taint.
func tolerates(t *v1.Toleration, to *v1.Taint, v Version) bool {
	switch {
	case t.Effect != to.Effect && (t.Effect != "" || v < anyEffectSince), t.Key != "" && t.Key != to.Key:
		return false
	case t.Operator == "" || t.Operator == v1.TolerationOpEqual:
		return t.Value == to.Value
	}
	return t.Operator == v1.TolerationOpExists
}

// Version is a version of Kubernetes: 37002 is 1.37.2.
type Version int

// String returns the version, without a patch that is 0.
func (v Version) String() string {
	return strings.TrimSuffix(fmt.Sprintf("1.%d.%d", int(v/1000), int(v%1000)), ".0")
}

// The controller that deletes the pods, and the first versions that decide differently.
const (
	Controller             = "device-taint-eviction-controller"
	Default        Version = 37000 // the first one that evicts because of all taints without being configured to
	extendedSince  Version = 37002
	anyEffectSince Version = 38000
)

// Changes returns what has changed in the decisions, as clauses, each under the first version with the change.
func Changes() map[Version]string {
	return map[Version]string{
		extendedSince:  "claims for extended resources evict pods",
		anyEffectSince: "a toleration without an effect counts",
	}
}
