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
	version string
	created time.Time
	taints  []v1.Taint
}

func lookAt(n *v1.Node) look {
	return look{n.Name, n.UID, n.ResourceVersion, n.CreationTimestamp.Time, n.Spec.Taints}
}

// node is the small value of the node that was looked at.
func (l *look) node(listed bool, taints []taint.History) taint.Node {
	return taint.Node{Name: l.name, UID: l.uid, Created: l.created, Version: l.version, Listed: listed, Taints: taints}
}

// gap says what may have been missed between two looks. The zero gap is none.
type gap struct {
	first   bool      // the process has not looked before
	missed  bool      // it has, but did not watch all the time
	watched time.Time // the last moment at which it did
}

// nodes are the nodes by name, with the histories of their taints. Any number of goroutines read and
// adopt; only one sees and forgets.
type nodes struct {
	rules  taint.Rules
	pods   func(node string) []*taint.Pod
	synced func() bool      // all pods that there are are known
	now    func() time.Time // carries the monotonic clock

	writing sync.Mutex // held from reading a node that is to be replaced until it is

	mu       sync.RWMutex
	byName   map[string]*taint.Node
	versions map[string]string // of the last look at each tainted node
}

func newNodes(rules taint.Rules, pods func(node string) []*taint.Pod, synced func() bool) *nodes {
	return &nodes{
		rules: rules, pods: pods, synced: synced, now: time.Now,
		byName: map[string]*taint.Node{}, versions: map[string]string{},
	}
}

// get returns the node of this name, or nil.
func (t *nodes) get(name string) *taint.Node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byName[name]
}

// version is the resourceVersion of the last look at a tainted node; empty when there is no such node.
func (t *nodes) version(name string) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.versions[name]
}

// tainted returns the nodes that carry NoExecute taints.
func (t *nodes) tainted() []*taint.Node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]*taint.Node, 0, len(t.versions))
	for name := range t.versions {
		list = append(list, t.byName[name])
	}
	return list
}

// see takes a look at a node, and says whether it is to be told.
func (t *nodes) see(l look, g gap) bool {
	t.writing.Lock()
	defer t.writing.Unlock()
	old := t.get(l.name)
	same := old != nil && old.UID == l.uid
	var before []taint.History
	if same {
		before = old.Taints
	}
	now := t.observe(before, &l, g)
	if same && isSame(before, now) {
		t.look(&l, len(now) > 0)
		return false
	}
	node := l.node(g.first, now)
	t.put(&node, l.version)
	return old != nil || len(now) > 0
}

// adopt betters what is known of a node by the journal's record of it, and says whether that changes
// anything.
func (t *nodes) adopt(name string, r journal.Record, watched time.Time) bool {
	t.writing.Lock()
	defer t.writing.Unlock()
	old := t.get(name)
	if old == nil {
		return false
	}
	taints := journal.Adopt(old, r, t.now(), watched)
	if isSame(old.Taints, taints) {
		return false
	}
	node := *old
	node.Taints = taints
	t.put(&node, t.version(name))
	return true
}

// observe hands the look to the journal. A node without taints, now and before, needs no journal.
func (t *nodes) observe(before []taint.History, l *look, g gap) []taint.History {
	if len(before) == 0 && !executes(l.taints) {
		return nil
	}
	name := l.name // so that the look does not escape
	return journal.Observe(before, journal.Sighting{
		Taints: l.taints, At: t.now(), Created: l.created, Gap: g.first || g.missed, Watched: g.watched,
		Apart: func(a, b *v1.Taint) bool { return t.apart(name, a, b) },
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
// While not all pods are known, there may be one.
func (t *nodes) apart(node string, a, b *v1.Taint) bool {
	if !t.synced() {
		return true
	}
	for _, p := range t.pods(node) {
		if taint.BearsForEver(p, a, t.rules) != taint.BearsForEver(p, b, t.rules) {
			return true
		}
	}
	return false
}

// forget drops a node, and says whether that is to be told: without taints it had no countdowns.
func (t *nodes) forget(name string) bool {
	t.writing.Lock()
	defer t.writing.Unlock()
	old := t.get(name)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byName, name)
	delete(t.versions, name)
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

func (t *nodes) put(n *taint.Node, version string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byName[n.Name] = n
	if n.Tainted() {
		t.versions[n.Name] = version
	} else {
		delete(t.versions, n.Name)
	}
}

// look notes that a tainted node was looked at, and nothing has changed.
func (t *nodes) look(l *look, tainted bool) {
	if !tainted {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.versions[l.name] = l.version
}

// withNode adds the node that the pod is bound to.
func withNode(p *taint.Pod, nodes *nodes) (*taint.Pod, *taint.Node) {
	if p == nil {
		return nil, nil
	}
	return p, nodes.get(p.Node)
}
