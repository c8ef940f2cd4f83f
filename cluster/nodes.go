package cluster

import (
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// look is what is needed of a node object. Its taints need not be NoExecute ones.
type look struct {
	name    string
	uid     types.UID
	created time.Time
	taints  []v1.Taint
}

func lookAt(n *v1.Node) look {
	return look{n.Name, n.UID, n.CreationTimestamp.Time, n.Spec.Taints}
}

// nodes are the nodes by name, with the histories of their taints. One goroutine writes; any number
// read.
type nodes struct {
	rules taint.Rules
	pods  func(node string) []*taint.Pod

	mu     sync.RWMutex
	byName map[string]*taint.Node
}

func newNodes(rules taint.Rules, pods func(node string) []*taint.Pod) *nodes {
	return &nodes{rules: rules, pods: pods, byName: map[string]*taint.Node{}}
}

// get returns the node of this name, or nil.
func (t *nodes) get(name string) *taint.Node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byName[name]
}

// see takes a look at a node, and says whether it is to be told. listed says that the look is the very
// first one at a node that was there before this process began to watch.
func (t *nodes) see(l look, listed bool) bool {
	old := t.get(l.name)
	same := old != nil && old.UID == l.uid
	var before []taint.History
	if same {
		before = old.Taints
	}
	now := t.observe(before, l, listed)
	if same && isSame(before, now) {
		return false
	}
	t.put(&taint.Node{Name: l.name, UID: l.uid, Taints: now})
	return old != nil || len(now) > 0
}

// observe hands the look to the journal. A node without taints, now and before, needs no journal.
func (t *nodes) observe(before []taint.History, l look, listed bool) []taint.History {
	if len(before) == 0 && !executes(l.taints) {
		return nil
	}
	return journal.Observe(before, journal.Sighting{
		Taints: l.taints, At: time.Now(), Created: l.created, Listed: listed,
		Apart: func(a, b *v1.Taint) bool { return t.apart(l.name, a, b) },
	})
}

// executes says whether one of the taints is a NoExecute one.
func executes(taints []v1.Taint) bool {
	for i := range taints {
		if taints[i].Effect == v1.TaintEffectNoExecute {
			return true
		}
	}
	return false
}

// isSame says whether the journal has returned what it was given.
func isSame(before, now []taint.History) bool {
	return len(before) == len(now) && (len(now) == 0 || &before[0] == &now[0])
}

// apart says whether some pod of the node bears one of the taints without a limit and the other not.
func (t *nodes) apart(node string, a, b *v1.Taint) bool {
	for _, p := range t.pods(node) {
		if taint.BearsForEver(p, a, t.rules) != taint.BearsForEver(p, b, t.rules) {
			return true
		}
	}
	return false
}

// forget drops a node, and says whether that is to be told: without taints it had no countdowns.
func (t *nodes) forget(name string) bool {
	old := t.get(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byName, name)
	return old.Tainted()
}

// names returns the names of all nodes.
func (t *nodes) names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]string, 0, len(t.byName))
	for name := range t.byName {
		list = append(list, name)
	}
	return list
}

func (t *nodes) put(n *taint.Node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byName[n.Name] = n
}

// withNode adds the node that the pod is bound to.
func withNode(p *taint.Pod, nodes *nodes) (*taint.Pod, *taint.Node) {
	if p == nil {
		return nil, nil
	}
	return p, nodes.get(p.Node)
}
