package foresight

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/policy"
)

// UsedDevice is a device that a pod uses, and what taints it.
type UsedDevice struct {
	Name  string `json:"name"`            // driver/pool/device
	Claim string `json:"claim"`           // the ResourceClaim by which the pod uses the device
	Rule  string `json:"rule,omitempty"`  // the DeviceTaintRule that sets the taint; empty if none does
	Slice string `json:"slice,omitempty"` // the ResourceSlice that has the taint; empty if none has
}

// cluster returns the devices of the objects, and their users.
func (o *objects) cluster() *device.Cluster {
	var list []any
	for _, key := range slices.Sorted(maps.Keys(o.devices)) {
		list = append(list, o.devices[key])
	}
	return device.NewCluster(list)
}

// pairs returns the NoExecute taints of the pod's devices, and the pod's earliest deadline; zero if none evicts it.
func (m *Model) pairs(d *device.Cluster, p *pod, v device.Version) (pairs []device.Pair, at time.Time) {
	if p.Node == "" || p.Terminating {
		return nil, at
	}
	if pairs = d.Pairs(p.UID, v, m.at); len(pairs) > 0 {
		at = pairs[0].At
	}
	return pairs, at
}

// version returns the version of Kubernetes; if unknown, the first one that by default acts on all taints of devices.
func (m *Model) version() device.Version { return cmp.Or(m.reading.Kubernetes, device.Default) }

// predict returns the prediction for a pod by the taints of its node and devices, and the verdict by the node's taints.
func (m *Model) predict(by *rulesAt, p *pod, d *device.Cluster) (Prediction, policy.Verdict) {
	first, verdict := by.predict(&p.Pod)
	pairs, at := m.pairs(d, p, m.version())
	if at.IsZero() {
		return first, verdict
	}
	second := ofDevice(&pairs[0])
	if !first.Evict || at.Before(*first.At) {
		first, second = second, first
	}
	if second.EvictedOrHeld() {
		first.Also = &second
	}
	if early := second.Earliest; second.Evict && early != nil && early.Before(*first.At) {
		first.Earliest = early
	}
	return first, verdict
}

// ofDevice returns the prediction for a pod because of one taint of a device.
func ofDevice(p *device.Pair) Prediction {
	made := Prediction{
		Evict: p.Evict, Reason: p.Because(), Toleration: unquoted(p.Toleration),
		Device: &UsedDevice{p.Device.String(), p.Claim.Name, p.Rule, p.Slice},
	}
	if p.Evict {
		made.At, made.ExposedSince, made.SinceFrom = utc(p.At), utc(p.Start), FromTimeAdded
		made.Taint = p.Taint.ToString()
		made.DeletedBy, made.Method = device.Controller, policy.Delete.Word()
	}
	return made
}

// explainDevices explains what each taint of the pod's devices alone would do.
func (m *Model) explainDevices(p *pod) (list []ExplainedTaint) {
	pairs, _ := m.pairs(m.users, p, m.version())
	for i := range pairs {
		pair, alone := &pairs[i], ofDevice(&pairs[i])
		list = append(list, ExplainedTaint{
			Taint: pair.Taint.ToString(), Device: alone.Device, Since: utc(pair.Start), SinceFrom: FromTimeAdded,
			TolerationSeconds: cmp.Or(pair.Toleration, new(v1.Toleration)).TolerationSeconds,
			Toleration:        alone.Toleration, Arithmetic: []string{alone.Reason}, Prediction: &alone,
		})
	}
	return list
}

// unknownDevices returns why it is unknown whether taints of devices evict these pods; none if it is known.
func (m *Model) unknownDevices(pods iter.Seq[*pod]) []string {
	using, without := 0, 0
	for p := range pods {
		if p.usesClaims && p.Node != "" && p.replica() {
			using++
			countIf(&without, len(m.users.Claims(p.UID)) == 0)
		}
	}
	why, asked := m.reading.DevicesUnknown, m.reading.Dumped || m.reading.Kubernetes != 0
	if why == "" && m.reading.Dumped && len(m.users.Devices()) == 0 {
		why = m.reading.From + " has no ResourceSlices"
	} else if why == "" && without > 0 && asked {
		why = fmt.Sprintf("no ResourceClaim is reserved for %d of them", without)
	}
	if using == 0 || why == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s may use devices by claims, but %s, so the taints of these devices are unknown",
		Count(using, "pod"), why)}
}

// noteDevices adds notes about pods for which versions of Kubernetes decide differently, and about incomplete pools.
func (m *Model) noteDevices(r *Remarks, d *device.Cluster, pods []*pod) {
	changes := device.Changes()
	for _, since := range slices.Sorted(maps.Keys(changes)) {
		var names []string
		for _, p := range pods {
			_, with := m.pairs(d, p, since)
			if _, without := m.pairs(d, p, since-1); !with.Equal(without) {
				names = append(names, p.Key())
			}
		}
		slices.Sort(names)
		differs := fmt.Sprintf("versions of Kubernetes differ about %s: from %s on, %s", ShortList(names), since,
			changes[since])
		if len(names) > 0 && m.reading.Kubernetes == 0 {
			r.Incomplete = append(r.Incomplete, differs+"; set --kubernetes-version")
		} else if len(names) > 0 {
			r.note("%s; this answer is for %s", differs, m.version())
		}
	}
	var notes []string
	for _, p := range pods {
		notes = append(notes, d.Lacking(p.UID)...)
		if _, at := m.pairs(d, p, m.version()); m.version() < device.Default && !at.IsZero() {
			notes = append(notes, fmt.Sprintf("before Kubernetes %s, these evictions need the feature gates "+
				"DRADeviceTaints (on by default since 1.36) and, for rules, DRADeviceTaintRules", device.Default))
		}
	}
	slices.Sort(notes)
	r.Notes = append(r.Notes, slices.Compact(notes)...)
}

// plannedDevices returns the devices that the rules select. It returns an error if a rule without a name selects none.
func (m *Model) plannedDevices(rules []*device.Rule) (*PlannedDevices, error) {
	all := m.users.Devices()
	planned := &PlannedDevices{Selected: []string{}, All: len(all)}
	for _, d := range all {
		if slices.ContainsFunc(rules, func(r *device.Rule) bool { return r.Selects(d) }) {
			planned.Selected = append(planned.Selected, d.String())
		}
	}
	for _, r := range rules {
		if t := r.Taint.ToString(); !slices.Contains(planned.Taints, t) {
			planned.Taints = append(planned.Taints, t)
		}
		planned.Rule = cmp.Or(r.Name, planned.Rule)
		none := fmt.Sprintf("DeviceTaintRule %s selects none of %s", r.Name, Count(len(all), "device"))
		switch some := slices.ContainsFunc(all, r.Selects); {
		case r.Name == "" && !some && len(all) > 0:
			missing := device.ID{Driver: *r.Selector.Driver, Pool: *r.Selector.Pool, Name: *r.Selector.Device}
			return nil, &QuestionError{What: "device " + missing.String() + " not found", Kubectl: "get resourceslices"}
		case r.Selector == nil:
			planned.notes = append(planned.notes, none+", because it has no deviceSelector, which only the scheduler of "+
				"versions before 1.37.1 takes for all devices; an empty one selects all")
		case !some && r.Name != "":
			planned.notes = append(planned.notes, none)
		}
		if r.Taint.Effect != v1.TaintEffectNoExecute {
			note := r.Taint.ToString() + " evicts no pod; plan NoExecute to see what would go"
			planned.notes = append(planned.notes, note)
		}
	}
	return planned, nil
}
