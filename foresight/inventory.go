package foresight

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/taint-manager/taint-manager/taint"
)

// Question is what a plan is asked for.
type Question struct {
	// The nodes: those of these names or, where there are none, those that the selector matches.
	Names    []string
	Selector labels.Selector

	Changes []Change

	// At is the moment at which the nodes get the taints.
	At time.Time

	// Rules by which the manager judges.
	Rules taint.Rules

	// Method is delete or evict.
	Method string

	// Namespace is the only one whose pods count; empty for all.
	Namespace string
}

// Inventory is what a plan needs of a cluster. It takes objects in any order, and keeps little of them:
// the pods of the nodes in question, and a number for each owner of others. Where pods come before
// nodes, and the nodes are given by a selector, it has to keep a small value of each pod.
type Inventory struct {
	question Question

	names    []string            // of all nodes
	nodes    map[string]*v1.Node // those in question
	seen     map[string]bool     // all nodes
	pods     []pod
	replicas map[ownerKey]int
	budgets  []budget
	records  Records
}

// ownerKey names an owner.
type ownerKey struct {
	namespace string
	owner     Owner
}

func keyOf(p *pod) ownerKey { return ownerKey{p.Namespace, p.owner} }

// NewInventory returns an empty inventory.
func NewInventory(q Question) *Inventory {
	return &Inventory{question: q, nodes: map[string]*v1.Node{}, seen: map[string]bool{}, replicas: map[ownerKey]int{}}
}

// AddNode takes a node in.
func (i *Inventory) AddNode(n *v1.Node) {
	i.names = append(i.names, n.Name)
	i.seen[n.Name] = true
	if i.asks(n) {
		i.nodes[n.Name] = &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, CreationTimestamp: n.CreationTimestamp},
			Spec:       v1.NodeSpec{Taints: n.Spec.Taints},
		}
	}
}

func (i *Inventory) asks(n *v1.Node) bool {
	if len(i.question.Names) > 0 {
		return slices.Contains(i.question.Names, n.Name)
	}
	return i.question.Selector.Matches(labels.Set(n.Labels))
}

// AddPod takes a pod in.
func (i *Inventory) AddPod(p *v1.Pod) {
	if i.question.Namespace != "" && p.Namespace != i.question.Namespace {
		return
	}
	kept := podOf(p, i.question.At)
	if kept.owner != (Owner{}) && kept.replica() {
		i.replicas[keyOf(&kept)]++
	}
	if i.matters(kept.Node) {
		i.pods = append(i.pods, kept)
	}
}

// matters says whether the node is, or may be, one of those in question.
func (i *Inventory) matters(node string) bool {
	if len(i.question.Names) > 0 {
		return slices.Contains(i.question.Names, node)
	}
	return i.nodes[node] != nil || !i.seen[node]
}

// AddBudget takes a PodDisruptionBudget in.
func (i *Inventory) AddBudget(b *policyv1.PodDisruptionBudget) {
	if i.question.Namespace == "" || b.Namespace == i.question.Namespace {
		i.budgets = append(i.budgets, budgetOf(b))
	}
}

// AddRecords takes in what a journal tells of the nodes.
func (i *Inventory) AddRecords(r Records) { i.records = r }

// Tainted are the names of the nodes in question that carry NoExecute taints.
func (i *Inventory) Tainted() []string {
	var names []string
	for name, n := range i.nodes {
		if executes(n.Spec.Taints) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// executes says whether one of the taints is a NoExecute one.
func executes(taints []v1.Taint) bool {
	return slices.ContainsFunc(taints, func(t v1.Taint) bool { return t.Effect == v1.TaintEffectNoExecute })
}

// Nodes are the names of all nodes that were taken in.
func (i *Inventory) Nodes() []string { return i.names }

// misfit says why the question does not fit what there is; nil when it does.
func (i *Inventory) misfit() error {
	slices.SortFunc(i.budgets, func(a, b budget) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	if twice := i.twice(); twice != "" {
		return &TwiceError{twice}
	}
	var missing []string
	for _, name := range i.question.Names {
		if !i.seen[name] {
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) > 0:
		return &UnknownNodesError{missing}
	case len(i.nodes) == 0:
		return &NoNodeError{i.question.Selector}
	}
	return nil
}

// twice names an object that was taken in twice, which would be counted twice; empty when none was.
func (i *Inventory) twice() string {
	nodes := map[string]bool{}
	for _, name := range i.names {
		if nodes[name] {
			return "node " + name
		}
		nodes[name] = true
	}
	pods := map[string]bool{}
	for n := range i.pods {
		key := i.pods[n].Key()
		if pods[key] {
			return "pod " + key
		}
		pods[key] = true
	}
	return ""
}
