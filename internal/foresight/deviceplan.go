package foresight

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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

// PlanDevices predicts the effect of rules that taint devices from this time on. They replace the rules of the cluster
// that have their names. A rule without a name taints one device, as its driver may do.
func (m *Model) PlanDevices(rules []*device.Rule, at time.Time) (*Plan, error) {
	devices, err := m.plannedDevices(rules)
	if err != nil {
		return nil, err
	}
	plan := &Plan{
		Header: header("Plan", at), EvictionMethod: m.rules.method(), Focus: m.focus, Devices: devices, Pods: []*PlannedPod{},
	}
	by, with, users := m.rulesNow(at), m.users.With(rules, at), []*pod{}
	for _, p := range m.pods {
		planned := m.planUser(&by, p, with, at)
		if planned.selected = with.Uses(p.UID, rules); planned.selected {
			users = append(users, p)
		}
		if planned.selected || planned.Evict {
			plan.Pods = append(plan.Pods, planned)
		}
	}
	slices.SortFunc(plan.Pods, inOrder)
	plan.Nodes, plan.Budgets = nodesOf(users), planBudgets(m.budgetsInOrder(), plan.Pods, nil)
	plan.count(m.replicasOf())
	plan.Remarks = m.remarks(&by, plan.doubts(), m.ineffective(rules))
	plan.Incomplete = append(m.gaps(nil), m.unknownDevices(maps.Values(m.pods))...)
	m.noteDevices(&plan.Remarks, with, users)
	return plan, nil
}

// plannedDevices returns the devices that the rules select. It returns an error if a rule without a name selects none.
func (m *Model) plannedDevices(rules []*device.Rule) (*PlannedDevices, error) {
	all, planned := m.users.Devices(), &PlannedDevices{Selected: []string{}}
	names := []string{}
	for _, d := range all {
		names = append(names, d.String())
		if slices.ContainsFunc(rules, func(r *device.Rule) bool { return r.Selects(d) }) {
			planned.Selected = append(planned.Selected, d.String())
		}
	}
	for _, r := range rules {
		planned.Taints = append(planned.Taints, r.Taint.ToString())
		if r.Name != "" {
			planned.Rules = append(planned.Rules, r.Name)
		} else if len(all) > 0 && !slices.ContainsFunc(all, r.Selects) {
			typed := device.ID{Driver: *r.Selector.Driver, Pool: *r.Selector.Pool, Name: *r.Selector.Device}.String()
			return nil, &QuestionError{"there is no device " + typed, "get resourceslices", typed, names}
		}
	}
	slices.Sort(planned.Taints)
	planned.Taints, planned.All = slices.Compact(planned.Taints), len(all)
	return planned, nil
}

// planUser returns the prediction for a pod with these taints of devices.
func (m *Model) planUser(by *rulesAt, p *pod, with *device.Cluster, at time.Time) *PlannedPod {
	then, _ := m.predict(by, p, with)
	now, _ := m.predict(by, p, m.users)
	result := &PlannedPod{PodRef: p.ref(), Prediction: then, Effect: effect(&then, &now), of: p}
	if now.Evict {
		result.Without = &now
	}
	if then.Evict {
		result.InSeconds = new(max(0, then.At.Sub(at).Seconds()))
	} else if pairs, _ := m.pairs(with, p, m.version()); len(pairs) > 0 {
		result.Reason = pairs[0].Because()
	}
	return result
}

// nodesOf returns the nodes of the pods.
func nodesOf(pods []*pod) []PlannedNode {
	nodes := []PlannedNode{}
	for _, p := range pods {
		nodes = append(nodes, PlannedNode{Name: p.Node, Changes: []NodeChange{}})
	}
	slices.SortFunc(nodes, func(a, b PlannedNode) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(nodes, func(a, b PlannedNode) bool { return a.Name == b.Name })
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
