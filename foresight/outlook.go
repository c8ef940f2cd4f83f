package foresight

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// Outlook knows pods, nodes and the journal, and says what is scheduled. What changes while somebody
// watches is put in as it changes: what was seen to happen counts from then, as with a manager. It is for
// one goroutine.
type Outlook struct {
	rules   taint.Rules
	nodes   map[string]nodeEstimate
	pods    map[types.UID]pod
	records Records

	// byRecords says that the nodes can't be seen: those count that the journal tells of.
	byRecords bool
}

// NewOutlook returns one that knows nothing.
func NewOutlook(rules taint.Rules) *Outlook {
	return &Outlook{rules: rules, nodes: map[string]nodeEstimate{}, pods: map[types.UID]pod{}, records: Records{}}
}

// SeeNode takes a node in. Listed says that it was there before anybody looked; else it was seen to
// become what it is.
func (o *Outlook) SeeNode(n *v1.Node, at time.Time, listed bool) {
	k, ok := o.nodes[n.Name]
	switch {
	case ok && k.latest.UID == n.UID:
		o.nodes[n.Name] = k.with(n.Spec.Taints, n.ResourceVersion, at).adopt(o.records[n.Name], at)
	case listed:
		o.nodes[n.Name] = estimateOf(n, o.records[n.Name], at)
	default:
		bare := *n
		bare.Spec.Taints = nil
		o.nodes[n.Name] = estimateOf(&bare, Recorded{}, at).with(n.Spec.Taints, n.ResourceVersion, at)
	}
}

// DropNode forgets a node that is gone.
func (o *Outlook) DropNode(name string) { delete(o.nodes, name) }

// SeePod takes a pod in; listed as with SeeNode.
func (o *Outlook) SeePod(p *v1.Pod, at time.Time, listed bool) {
	seen := podOf(p, at)
	if before, ok := o.pods[p.UID]; ok {
		seen.Bound = before.Bound
	} else if !listed {
		seen.Bound = at
	}
	o.pods[p.UID] = seen
}

// DropPod forgets a pod that is gone.
func (o *Outlook) DropPod(uid types.UID) { delete(o.pods, uid) }

// Pod says whether the pod is there and stays for now, and why.
func (o *Outlook) Pod(uid types.UID) (why string, stays bool) {
	p, ok := o.pods[uid]
	if !ok {
		return "", false
	}
	node, ok := o.nodes[p.Node]
	if !ok {
		return taint.Decide(&p.Pod, nil, o.rules).Because(), !p.Terminating
	}
	prediction := node.judge(&p.Pod, o.rules)
	return prediction.Reason, !prediction.Evict && !p.Terminating
}

// Record takes a page of the journal in.
func (o *Outlook) Record(page journal.Page, at time.Time) {
	o.records.Add(page)
	for name := range page.Records {
		if k, ok := o.nodes[name]; ok && !o.byRecords {
			o.nodes[name] = k.adopt(o.records[name], at)
		}
	}
}

// ByRecords lets those nodes count that the journal tells of, as the nodes can't be seen. The pages are
// those that there are.
func (o *Outlook) ByRecords(pages []journal.Page) {
	o.byRecords = true
	o.records, o.nodes = Records{}, map[string]nodeEstimate{}
	for _, page := range pages {
		o.records.Add(page)
	}
	for name, record := range o.records {
		o.nodes[name] = estimateFromRecord(name, record)
	}
}

// Nodes are the names of all nodes that are known.
func (o *Outlook) Nodes() []string {
	var names []string
	for name := range o.nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Tainted are the names of those that carry NoExecute taints, among these, or among all where none is
// named.
func (o *Outlook) Tainted(among []string) []string {
	return slices.DeleteFunc(o.Nodes(), func(name string) bool {
		return len(o.nodes[name].latest.Taints) == 0 || len(among) > 0 && !slices.Contains(among, name)
	})
}

// Stale is when the oldest page about these tainted nodes was written, if nobody seems to keep the journal;
// see [Records.Stale].
func (o *Outlook) Stale(nodes []string, at time.Time) time.Time {
	return o.records.Stale(o.Tainted(nodes), at)
}

// Pending says what is scheduled at the moment on these nodes, or on all where none is named.
func (o *Outlook) Pending(at time.Time, nodes []string) *Pending {
	var list []PendingPod
	for uid := range o.pods {
		p := o.pods[uid]
		node, ok := o.nodes[p.Node]
		if !ok || len(nodes) > 0 && !slices.Contains(nodes, p.Node) {
			continue
		}
		if prediction := node.judge(&p.Pod, o.rules); prediction.Evict {
			list = append(list, pendingOf(&p, prediction, at))
		}
	}
	return NewPending(at, list)
}

func pendingOf(p *pod, prediction Prediction, at time.Time) PendingPod {
	one := PendingPod{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Node, State: Scheduled, Prediction: prediction}
	if p.owner != (Owner{}) {
		one.Owner = &p.owner
	}
	if !prediction.At.After(at) {
		one.State = Due
	}
	return one
}

// Undecided counts the pods that would go if their node had a taint that they do not bear, on these nodes,
// or on all where none is named; and all that there are.
func (o *Outlook) Undecided(nodes []string) (could, all int) {
	stranger := v1.Taint{Key: "any", Effect: v1.TaintEffectNoExecute}
	for uid := range o.pods {
		p := o.pods[uid]
		if len(nodes) > 0 && !slices.Contains(nodes, p.Node) {
			continue
		}
		all++
		with := taint.Node{Name: p.Node, Taints: []taint.History{{{Taint: stranger, Since: p.Bound}}}}
		if taint.Decide(&p.Pod, &with, o.rules).Evict {
			could++
		}
	}
	return could, all
}
