package device

import (
	"cmp"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ID identifies a device. The name of a pool may have slashes.
type ID struct{ Driver, Pool, Name string }

func (d ID) String() string { return d.Driver + "/" + d.Pool + "/" + d.Name }

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
	Name, Driver, Pool string
	Generation, Count  int64                 // of the pool, and the number of its slices
	Taints             map[string][]v1.Taint // of each device, by its name
}

// Rule is a DeviceTaintRule.
type Rule struct {
	Name     string
	Selector *resourcev1.DeviceTaintSelector
	Taint    v1.Taint
}

// Of returns a ResourceClaim, a ResourceSlice or a DeviceTaintRule as a *Claim, a *Slice or a *Rule, with what decides;
// nil if the object is another one.
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
				Key: t.Key, Operator: v1.TolerationOperator(t.Operator), Value: t.Value, Effect: v1.TaintEffect(t.Effect),
				TolerationSeconds: t.TolerationSeconds,
			})
		}
		claim.Devices = append(claim.Devices, allocated)
	}
	return claim
}

func sliceOf(name string, s *resourcev1.ResourceSliceSpec) *Slice {
	slice := &Slice{name, s.Driver, s.Pool.Name, s.Pool.Generation, s.Pool.ResourceSliceCount, map[string][]v1.Taint{}}
	for i := range s.Devices {
		d := &s.Devices[i]
		slice.Taints[d.Name] = nil
		for j := range d.Taints {
			slice.Taints[d.Name] = append(slice.Taints[d.Name], taintOf(&d.Taints[j]))
		}
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
