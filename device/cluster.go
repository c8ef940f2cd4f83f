package device

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Cluster has the devices of a cluster, their taints, and the claims that use them.
type Cluster struct {
	claims map[types.UID][]*Claim // by the pods for which they are reserved
	pools  map[pool][]*Slice      // those of the newest generation
	rules  []*Rule
}

// pool identifies a pool.
type pool struct{ driver, name string }

// NewCluster returns a cluster with these objects, as [Of] returns them. Their order decides only between taints with
// the same deadline.
func NewCluster(objects []any) *Cluster {
	c := &Cluster{claims: map[types.UID][]*Claim{}, pools: map[pool][]*Slice{}}
	for _, object := range objects {
		switch o := object.(type) {
		case *Claim:
			for _, uid := range o.Pods {
				c.claims[uid] = append(c.claims[uid], o)
			}
		case *Slice:
			c.addSlice(o)
		case *Rule:
			c.rules = append(c.rules, o)
		}
	}
	return c
}

func (c *Cluster) addSlice(s *Slice) {
	of := pool{s.Driver, s.Pool}
	switch newest := c.pools[of]; {
	case len(newest) == 0 || s.Generation > newest[0].Generation:
		c.pools[of] = []*Slice{s}
	case s.Generation == newest[0].Generation:
		c.pools[of] = append(newest, s)
	}
}

// With returns the cluster once 'kubectl apply' has written these rules. A rule without a name replaces none.
func (c *Cluster) With(rules []*Rule, now time.Time) *Cluster {
	with := &Cluster{c.claims, c.pools, slices.Clone(c.rules)}
	for _, r := range rules {
		i := slices.IndexFunc(with.rules, func(old *Rule) bool { return r.Name != "" && old.Name == r.Name })
		if i < 0 {
			i, with.rules = len(with.rules), append(with.rules, &Rule{})
		}
		with.rules[i] = r.applied(with.rules[i], now)
	}
	return with
}

// applied returns the rule with the timeAdded that the API server gives it. It may replace another one.
func (r *Rule) applied(old *Rule, now time.Time) *Rule {
	made, same := *r, old.Taint.Effect == r.Taint.Effect
	switch added := made.Taint.TimeAdded; {
	case same && added == nil:
		made.Taint.TimeAdded = old.Taint.TimeAdded
	case added == nil, !same && added.Equal(old.Taint.TimeAdded):
		made.Taint.TimeAdded = new(metav1.NewTime(now))
	}
	return &made
}

// Claims returns the claims that are reserved for a pod.
func (c *Cluster) Claims(pod types.UID) []*Claim { return c.claims[pod] }

// Uses reports whether a pod uses a device that one of these rules selects.
func (c *Cluster) Uses(pod types.UID, rules []*Rule) bool {
	selected := func(d Allocated) bool {
		return slices.ContainsFunc(rules, func(r *Rule) bool { return r.Selects(d.ID) })
	}
	return slices.ContainsFunc(c.claims[pod], func(c *Claim) bool { return slices.ContainsFunc(c.Devices, selected) })
}

// Devices returns all devices of the newest generations, in order.
func (c *Cluster) Devices() (list []ID) {
	for of, parts := range c.pools {
		for _, s := range parts {
			for name := range s.Taints {
				list = append(list, ID{of.driver, of.name, name})
			}
		}
	}
	slices.SortFunc(list, func(a, b ID) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(list)
}

// Lacks returns the newest generation of a device's pool, the number of its slices, and how many of them are missing.
// The controller does not take older slices in their place.
func (c *Cluster) Lacks(d ID) (generation, all, missing int64) {
	parts := c.pools[pool{d.Driver, d.Pool}]
	if len(parts) == 0 {
		return 0, 0, 0
	}
	return parts[0].Generation, parts[0].Count, max(0, parts[0].Count-int64(len(parts)))
}
