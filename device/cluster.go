package device

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ID identifies a device, or a pool if Name is empty. The name of a pool may have slashes.
type ID struct{ Driver, Pool, Name string }

func (d ID) String() string { return d.Driver + "/" + d.Pool + "/" + d.Name }
func (d ID) pool() ID       { return ID{d.Driver, d.Pool, ""} }

// Claim is a ResourceClaim, with the devices that are allocated to it.
type Claim struct {
	Name     string
	Extended bool        // the scheduler has made it for the extended resources of a pod
	Pods     []types.UID // for which it is reserved
	Devices  []Allocated
}

// Allocated is a device of a claim, with the tolerations that the allocation has copied from the claim's request.
type Allocated struct {
	ID
	Tolerations []v1.Toleration
}

// Slice is a ResourceSlice, a part of a pool.
type Slice struct {
	Name              string
	Pool              ID
	Generation, Count int64             // of the pool, and the number of its slices
	Taints            map[ID][]v1.Taint // of each device
}

// Rule is a DeviceTaintRule.
type Rule struct {
	Name     string
	Selector *resourcev1.DeviceTaintSelector
	Taint    v1.Taint
}

// Of returns a ResourceClaim, a ResourceSlice or a DeviceTaintRule as a *Claim, a *Slice or a *Rule, with the fields
// that decide; nil for any other object.
func Of(object any) any {
	switch o := object.(type) {
	case *resourcev1.ResourceClaim:
		return claimOf(o)
	case *resourcev1.ResourceSlice:
		return sliceOf(o.Name, &o.Spec)
	case *resourcev1.DeviceTaintRule:
		return &Rule{o.Name, o.Spec.DeviceSelector, taintOf(&o.Spec.Taint)}
	}
	return nil
}

func claimOf(c *resourcev1.ResourceClaim) *Claim {
	claim := &Claim{Name: c.Name, Extended: c.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true"}
	for _, user := range c.Status.ReservedFor {
		if user.APIGroup == "" && user.Resource == "pods" {
			claim.Pods = append(claim.Pods, user.UID)
		}
	}
	for _, r := range cmp.Or(c.Status.Allocation, new(resourcev1.AllocationResult)).Devices.Results {
		allocated := Allocated{ID: ID{r.Driver, r.Pool, r.Device}}
		for _, t := range r.Tolerations {
			allocated.Tolerations = append(allocated.Tolerations, v1.Toleration{
				Key: t.Key, Operator: v1.TolerationOperator(t.Operator), Value: t.Value,
				Effect: v1.TaintEffect(t.Effect), TolerationSeconds: t.TolerationSeconds,
			})
		}
		claim.Devices = append(claim.Devices, allocated)
	}
	return claim
}

func sliceOf(name string, s *resourcev1.ResourceSliceSpec) *Slice {
	pool := ID{s.Driver, s.Pool.Name, ""}
	slice := &Slice{name, pool, s.Pool.Generation, s.Pool.ResourceSliceCount, map[ID][]v1.Taint{}}
	for i := range s.Devices {
		d, taints := ID{s.Driver, s.Pool.Name, s.Devices[i].Name}, []v1.Taint(nil)
		for j := range s.Devices[i].Taints {
			taints = append(taints, taintOf(&s.Devices[i].Taints[j]))
		}
		slice.Taints[d] = taints
	}
	return slice
}

func taintOf(t *resourcev1.DeviceTaint) v1.Taint {
	return v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffect(t.Effect), TimeAdded: t.TimeAdded}
}

// Selects reports whether the rule taints a device. Without a selector it taints none; an empty selector selects all.
func (r *Rule) Selects(d ID) bool {
	s := r.Selector
	return s != nil && d == ID{*cmp.Or(s.Driver, &d.Driver), *cmp.Or(s.Pool, &d.Pool), *cmp.Or(s.Device, &d.Name)}
}

// Cluster has the devices of a cluster, their taints, and the claims that use them.
type Cluster struct {
	claims map[types.UID][]*Claim // by the pods for which they are reserved
	pools  map[ID][]*Slice        // by pool: its slices of the newest generation
	rules  []*Rule
}

// NewCluster returns a cluster with these objects, as [Of] returns them.
func NewCluster(objects []any) *Cluster {
	c := &Cluster{claims: map[types.UID][]*Claim{}, pools: map[ID][]*Slice{}}
	for _, object := range objects {
		switch o := object.(type) {
		case *Claim:
			for _, uid := range o.Pods {
				c.claims[uid] = append(c.claims[uid], o)
			}
		case *Slice:
			newest := c.pools[o.Pool]
			if len(newest) > 0 && o.Generation > newest[0].Generation {
				newest = nil
			}
			if len(newest) == 0 || o.Generation == newest[0].Generation {
				c.pools[o.Pool] = append(newest, o)
			}
		case *Rule:
			c.rules = append(c.rules, o)
		}
	}
	return c
}

// With returns the cluster as it is after 'kubectl apply' of these rules. A rule without a name replaces none.
func (c *Cluster) With(rules []*Rule, now time.Time) *Cluster {
	with := &Cluster{c.claims, c.pools, slices.Clone(c.rules)}
	for _, r := range rules {
		i := slices.IndexFunc(with.rules, r.replaces)
		if i < 0 {
			i, with.rules = len(with.rules), append(with.rules, &Rule{})
		}
		with.rules[i] = r.applied(with.rules[i], now)
	}
	return with
}

// replaces reports whether 'kubectl apply' of the rule replaces the old one.
func (r *Rule) replaces(old *Rule) bool { return r.Name != "" && r.Name == old.Name }

// applied returns the rule with the timeAdded that the API server gives it. old is the rule that it replaces, if any.
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

// Replaced returns the rules that 'kubectl apply' of these rules replaces.
func (c *Cluster) Replaced(rules []*Rule) []*Rule {
	return slices.DeleteFunc(slices.Clone(c.rules), func(old *Rule) bool {
		return !slices.ContainsFunc(rules, func(r *Rule) bool { return r.replaces(old) })
	})
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
	for _, parts := range c.pools {
		for _, s := range parts {
			list = slices.AppendSeq(list, maps.Keys(s.Taints))
		}
	}
	slices.SortFunc(list, func(a, b ID) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(list)
}

// Lacking returns a clause for each device of a pod whose pool lacks slices. The controller does not take older slices
// in place of missing ones.
func (c *Cluster) Lacking(pod types.UID) (list []string) {
	for _, claim := range c.claims[pod] {
		for _, d := range claim.Devices {
			parts := c.pools[d.pool()]
			if len(parts) > 0 && int64(len(parts)) < parts[0].Count {
				list = append(list, fmt.Sprintf("pool %s/%s has %d of %d ResourceSlices of generation %d, and "+
					"only taints in these count", d.Driver, d.Pool, len(parts), parts[0].Count, parts[0].Generation))
			}
		}
	}
	return list
}
