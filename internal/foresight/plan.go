package foresight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// Plan predicts the effect of changes of taints.
type Plan struct {
	Header

	EvictionMethod string `json:"evictionMethod"` // delete, evict or ignore; delete ignores budgets

	// Compared is the configuration given by --compare; empty without it.
	Compared string `json:"compared,omitempty"`

	// Pace says how a rate delays evictions from the selected nodes; nil if no rate does.
	Pace         *Pace `json:"pace,omitempty"`
	ComparedPace *Pace `json:"comparedPace,omitempty"` // the same with the compared configuration

	Devices *PlannedDevices `json:"devices,omitempty"` // nil if the nodes get taints

	Focus Focus         `json:"-"` // what was asked for
	Nodes []PlannedNode `json:"nodes"`
	Total Total         `json:"total"`

	// Pods to be evicted, in the order of their evictions, and then the pods on the selected nodes that stay. Evicted
	// pods on other nodes are included, because the same budgets apply; without --compare, their effect is "anyway".
	Pods []*PlannedPod `json:"pods"`

	Namespaces []NamespaceTotal `json:"namespaces"`
	Owners     []OwnerTotal     `json:"owners"`
	Budgets    []BudgetPlan     `json:"budgets"` // the budgets that select pods to be evicted

	BudgetsUnknown bool `json:"-"` // budgets were not read
	Remarks
}

// Names returns the namespaces and names of the pods that are evicted, or evicted sooner, because of the changes.
func (p *Plan) Names() []string {
	return namesOf(p.Pods, (*PlannedPod).Caused)
}

// Evictions returns the number of evicted pods, including those evicted without the changes.
func (p *Plan) Evictions() int { return p.Total.going() }

// PlannedNode is a node that gets the taints.
type PlannedNode struct {
	Name    string           `json:"name"`
	Changes []NodeChange     `json:"changes"`
	Total   `json:",inline"` // of its pods
}

// PlannedDevices are the devices that get taints.
type PlannedDevices struct {
	Rule     string   `json:"rule,omitempty"` // the DeviceTaintRule that sets the taint; empty if none does
	Taints   []string `json:"taints"`
	Selected []string `json:"selected"` // driver/pool/device of each
	All      int      `json:"all"`      // number of devices of the cluster
	notes    []string // about rules that evict no pod
}

// PlannedPod is the prediction for one pod.
type PlannedPod struct {
	PodRef
	Prediction `json:",inline"`

	// Effect is what the changes do to the pod: evicted, sooner, later, anyway (it is evicted at the same time without
	// them), saved, held or stays.
	Effect string `json:"effect"`

	// Builtin says how the built-in controller would treat this running pod differently, as far as the current state
	// shows; empty if it would not.
	Builtin string `json:"builtin,omitempty"`

	InSeconds *float64    `json:"inSeconds,omitempty"` // seconds from the plan's time to the eviction; 0 means at once
	Without   *Prediction `json:"without,omitempty"`   // the prediction without the changes; nil if the pod would stay

	// BlockedBy names the budgets that would block the eviction with the method evict.
	BlockedBy []string `json:"blockedBy,omitempty"`
	Never     bool     `json:"never,omitempty"` // these budgets would block it forever
	Warnings  []string `json:"warnings,omitempty"`

	Selected bool `json:"-"` // it is on a selected node, or uses a device in question
	of       *pod // the pod of the model; nil once the plan is complete

	// Asks is set if the pod is to be evicted by the Eviction API, which respects budgets, and not deleted; Waits, if
	// its budgets block that now; and NeverGoes, if they always will, and no policy deletes the pod.
	Asks, Waits, NeverGoes bool `json:"-"`
}

// Caused reports whether the pod is evicted, or evicted sooner, because of the changes.
func (p *PlannedPod) Caused() bool { return p.Effect == Evicted || p.Effect == Sooner }

// The effects of the changes on a pod.
const (
	Evicted = "evicted" // it is evicted because of them
	Sooner  = "sooner"  // it is evicted without them, too, but later
	Later   = "later"   // it is evicted without them, too, but sooner
	Anyway  = "anyway"  // it is evicted at the same time without them
	Saved   = "saved"   // it stays because of them
	Stays   = "stays"   // it stays without them, too

	Held = string(eviction.StateHeld)
)

// Question is what a plan answers.
type Question struct {
	Selection // of the nodes that get the taints
	Changes   []Change
	At        time.Time // at which the nodes get the taints

	// Devices are rules that taint devices; no node gets taints then. They replace rules of the cluster with the same
	// names. A rule without a name taints one device, as its driver may do.
	Devices []*device.Rule

	// Compare, if not nil, is the configuration that the changes are compared with, instead of no changes. Compared is
	// the name of that configuration.
	Compare  *Ruleset
	Compared string
}

// Plan predicts the effect of the changes. It returns an error if the selected nodes or their taints do not exist.
func (m *Model) Plan(q Question) (*Plan, error) {
	plan := &Plan{Header: header("Plan", q.At), EvictionMethod: m.rules.method(), Compared: q.Compared, Focus: m.focus}
	q.Changes = distinct(q.Changes)
	taints, hidden, err := m.change(plan, &q)
	if err != nil {
		return nil, err
	}
	by := m.planRules(&q, taints)
	plan.Pods = m.planPods(by, q.At)
	plan.addBudgets(m.budgetsWith(taints), taints)
	plan.addPaces(m, by)
	plan.count(m.replicas)
	plan.Remarks = m.remarks(plan.doubts(), m.rules.notes(q.Changes, plan.Nodes), &by.with, &by.without)
	plan.noteOwn(namesOf(plan.Pods, func(p *PlannedPod) bool { return p.Own && p.Selected }))
	gaps := m.gaps(q.Names, by.with.ruleset, by.without.ruleset)
	plan.Incomplete = slices.Concat(gaps, masking(by.masked, "pod", maskable), hidden)
	if unknown := m.unknownDevices(maps.Values(m.pods)); plan.Devices == nil {
		plan.Notes = append(plan.Notes, unknown...)
	} else {
		plan.Incomplete, plan.Notes = append(plan.Incomplete, unknown...), append(plan.Notes, plan.Devices.notes...)
		m.noteDevices(&plan.Remarks, by.users, by.asked)
	}
	plan.BudgetsUnknown = m.reading.BudgetsUnknown != ""
	asked := slices.ContainsFunc(plan.Pods, func(p *PlannedPod) bool { return p.Asks })
	if asked || plan.Devices == nil {
		m.addBudgetsUnknown(&plan.Remarks, asked)
	}
	return plan, nil
}

// change adds the selected nodes to the plan, and returns their taints after the changes. hidden is a clause about
// nodes if a mask hides whether they are selected.
func (m *Model) change(plan *Plan, q *Question) (taints map[string][]v1.Taint, hidden []string, err error) {
	if len(q.Devices) > 0 {
		plan.Devices, err = m.plannedDevices(q.Devices)
		return nil, nil, err
	}
	if err := m.CheckNodes(q.Names); err != nil {
		return nil, nil, err
	}
	taints = map[string][]v1.Taint{}
	masked, tainted := 0, 0
	for _, name := range slices.Sorted(maps.Keys(m.nodes)) {
		n := m.nodes[name]
		in, unknown := m.inQuestion(&q.Selection, n)
		countIf(&masked, unknown)
		if in {
			countIf(&tainted, m.mayChange(q.Changes, n.Taints))
			after, done := apply(q.Changes, n.Taints)
			taints[name] = after
			plan.Nodes = append(plan.Nodes, PlannedNode{Name: name, Changes: done})
		}
	}
	hidden = append(masking(masked, "node", "a label that the selector names"), masking(tainted, "node", "a taint")...)
	switch {
	case len(taints) > 0:
	case masked > 0:
		return nil, nil, fmt.Errorf("cannot tell which nodes match %s: %s", q.Selector, hidden[0])
	default:
		what := "no node matches " + q.Selector.String()
		return nil, nil, &QuestionError{What: what, Kubectl: "get nodes --show-labels"}
	}
	for _, c := range q.Changes {
		t := c.Taint.ToString()
		switch lack := nodesWith(plan.Nodes, Absent, t); {
		case !c.Remove || len(lack) < len(plan.Nodes):
		case tainted > 0:
			return nil, nil, fmt.Errorf("cannot tell which nodes have the taint %s: %s", t, hidden[len(hidden)-1])
		default:
			what := "taint " + t + " not found on " + ShortList(lack)
			return nil, nil, &QuestionError{What: what, Kubectl: "describe nodes"}
		}
	}
	return taints, hidden, nil
}

// planRules has the rules before and after the changes, the selected nodes' taints after the changes, the leader's pod,
// and the number of pods that are left out because a mask hides whether they tolerate these taints.
type planRules struct {
	with, without rulesAt
	taints        map[string][]v1.Taint
	self          *pod
	masked        int
	users         *device.Cluster // of devices, with the taints of these rules
	devices       []*device.Rule  // rules that taint the devices in question: new ones, and those that they replace
	asked         []*pod          // that use the devices in question
}

// planRules returns the rules of a plan. Breakers count the taints that the nodes would have. If configurations are
// compared, the nodes get the taints under both.
func (m *Model) planRules(q *Question, taints map[string][]v1.Taint) *planRules {
	with := m.rulesAt(&m.rules, q.At, taints)
	users := m.users.With(q.Devices, q.At)
	if q.Compare != nil {
		return &planRules{with, m.rulesAt(q.Compare, q.At, taints), taints, m.self(), 0, users, nil, nil}
	}
	devices := slices.Concat(q.Devices, m.users.Replaced(q.Devices))
	return &planRules{with, m.rulesNow(q.At), taints, m.self(), 0, users, devices, nil}
}

// planPods returns the predictions for all pods of the selected nodes, and for the evicted pods of other nodes.
func (m *Model) planPods(by *planRules, at time.Time) []*PlannedPod {
	pods := []*PlannedPod{}
	for _, p := range m.pods {
		n := m.nodes[p.Node]
		if n == nil {
			continue
		}
		switch planned := m.planPod(p, by, at); {
		case !planned.Selected && !planned.Evict:
		case m.masks(by.with.ruleset, n, p, by.with.nodes[p.Node].taints),
			m.masks(by.without.ruleset, n, p, by.with.nodes[p.Node].taints):
			by.masked++
		default:
			pods = append(pods, planned)
		}
	}
	slices.SortFunc(pods, inOrder)
	return pods
}

func (m *Model) planPod(p *pod, by *planRules, at time.Time) *PlannedPod {
	with, verdict := m.predict(&by.with, p, by.users)
	without, _ := m.predict(&by.without, p, m.users)
	taints, onNode := by.taints[p.Node]
	uses := by.users.Uses(p.UID, by.devices)
	if uses {
		by.asked = append(by.asked, p)
		if pairs, _ := m.pairs(by.users, p, m.version()); !with.EvictedOrHeld() && len(pairs) > 0 {
			with.Reason = pairs[0].Because()
		}
	}
	result := &PlannedPod{
		PodRef: p.ref(), Prediction: with, Effect: effect(&with, &without), of: p, Selected: onNode || uses,
	}
	if with.DeletedBy == "" {
		result.Builtin = by.with.nodes[p.Node].builtin(&p.Pod, &verdict, &by.with)
	}
	result.share()
	if without.Evict {
		without.share()
		result.Without = new(without) // a pod that stays needs no copy in memory
	}
	result.Own = isOwn(by.self, p, &with)
	for made := &result.Prediction; made != nil; made = made.Also {
		if made.SinceFrom == FromSight {
			made.SinceFrom = FromPlan
		}
	}
	if !result.Evict {
		return result
	}
	result.InSeconds = new(max(0, result.At.Sub(at).Seconds()))
	if onNode {
		rules := m.rules.config.Rules
		result.Warnings = slices.Concat(shadowedWarnings(&p.Pod, taints, rules),
			displacedWarnings(&p.Pod, taints, rules), loopWarnings(p, taints, rules), stuckWarnings(taints))
	}
	return result
}

// addPaces adds the paces of the evictions from the selected nodes that wait for no budget.
func (p *Plan) addPaces(m *Model, by *planRules) {
	var with, without []going
	for _, pod := range p.Pods {
		if pod.Selected && pod.Evict && !pod.Waits {
			with = append(with, going{pod.of, &pod.Prediction})
		}
		if pod.Selected && pod.Without != nil { // whether it waits for a budget is unknown
			without = append(without, going{pod.of, pod.Without})
		}
	}
	p.Pace = by.with.pace(m, p.At, with)
	if p.Compared != "" {
		p.ComparedPace = by.without.pace(m, p.At, without)
	}
}

// effect returns the effect of the changes on a pod, from the predictions after and before them.
func effect(with, without *Prediction) string {
	switch {
	case !with.Evict && with.HeldBy != "":
		return Held
	case !with.Evict && !without.Evict:
		return Stays
	case !with.Evict:
		return Saved
	case !without.Evict:
		return Evicted
	case with.At.Before(*without.At):
		return Sooner
	case with.At.After(*without.At):
		return Later
	}
	return Anyway
}

// inOrder orders pods: those to be evicted come first, by deadline; of equals, own pods come last, then names decide.
func inOrder(a, b *PlannedPod) int {
	order := trueLast(!a.Evict, !b.Evict)
	if a.Evict && b.Evict {
		order = a.At.Compare(*b.At)
	}
	return cmp.Or(order, trueLast(a.Own, b.Own), a.compare(&b.PodRef))
}

// trueLast orders two values: false comes before true.
func trueLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// doubts returns the doubts about the times of the plan. It ignores pods that the changes do not concern.
func (p *Plan) doubts() (d doubts) {
	for _, pod := range p.Pods {
		if pod.Effect == Anyway && !pod.Selected {
			continue
		}
		d.add(&pod.Prediction)
		if pod.Without != nil {
			d.add(pod.Without)
		}
	}
	return d
}

// unquoted formats a toleration without quotes.
func unquoted(t *v1.Toleration) string {
	if t == nil {
		return ""
	}
	return strings.Trim(taint.TolerationString(t), `"`)
}
