package foresight

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/device"
)

// PlannedDevices are the devices that get taints.
type PlannedDevices struct {
	Rules    []string `json:"rules,omitempty"` // names of the DeviceTaintRules that set the taints
	Taints   []string `json:"taints"`
	Selected []string `json:"selected"` // driver/pool/device of each
	All      int      `json:"all"`      // number of devices of the cluster
}

// plannedDevices returns the devices that the rules select. It returns an error if a rule without a name selects none.
func (m *Model) plannedDevices(rules []*device.Rule) (*PlannedDevices, error) {
	all, names := m.users.Devices(), []string{}
	planned := &PlannedDevices{Selected: []string{}, All: len(all)}
	for _, d := range all {
		names = append(names, d.String())
		if slices.ContainsFunc(rules, func(r *device.Rule) bool { return r.Selects(d) }) {
			planned.Selected = append(planned.Selected, d.String())
		}
	}
	for _, r := range rules {
		if t := r.Taint.ToString(); !slices.Contains(planned.Taints, t) {
			planned.Taints = append(planned.Taints, t)
		}
		if r.Name != "" {
			planned.Rules = append(planned.Rules, r.Name)
		} else if len(all) > 0 && !slices.ContainsFunc(all, r.Selects) {
			typed := device.ID{Driver: *r.Selector.Driver, Pool: *r.Selector.Pool, Name: *r.Selector.Device}.String()
			return nil, &QuestionError{"there is no device " + typed, "get resourceslices", typed, names}
		}
	}
	return planned, nil
}

// addUsers returns the pods that use the devices, and adds their nodes.
func (p *Plan) addUsers() (users []*pod) {
	if p.Devices == nil {
		return nil
	}
	nodes := map[string]bool{}
	for _, pod := range p.Pods {
		if pod.selected {
			users, nodes[pod.Node] = append(users, pod.of), true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		p.Nodes = append(p.Nodes, PlannedNode{Name: name, Changes: []NodeChange{}})
	}
	return users
}

// ineffective returns notes about rules that can't evict a pod.
func (m *Model) ineffective(rules []*device.Rule) (notes []string) {
	all := m.users.Devices()
	for _, r := range rules {
		switch {
		case r.Selector == nil:
			notes = append(notes, "DeviceTaintRule "+r.Name+" has no deviceSelector, so it selects no device; an empty one "+
				"selects all")
		case !slices.ContainsFunc(all, r.Selects):
			notes = append(notes, fmt.Sprintf("DeviceTaintRule %s selects none of %s", r.Name, Count(len(all), "device")))
		}
		if r.Taint.Effect != v1.TaintEffectNoExecute {
			notes = append(notes, r.Taint.ToString()+" evicts no pod, because its effect is not NoExecute; plan it with "+
				"NoExecute to see what it would evict then")
		}
	}
	return notes
}
