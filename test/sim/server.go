package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// timeline is what a server needs of its world: the true time, and a scheduler of functions.
type timeline interface {
	now() time.Duration
	after(d time.Duration, do func())
}

// written is one version of one object.
type written struct {
	version int
	at      time.Duration
	node    *v1.Node // nil if the write is about a pod
	pod     *v1.Pod
	before  *v1.Pod // the previous version of the pod; nil if it is new
	gone    bool    // the object was deleted; node or pod is its last version
}

// String returns a write in one line.
func (w *written) String() string {
	gone := ""
	if w.gone {
		gone = "gone: "
	}
	if w.node != nil {
		return gone + shown{w.node}.String()
	}
	return gone + shown{w.pod}.String()
}

// shown prints a node, a pod, taints or tolerations in short, for a trace.
type shown struct{ object any }

// String returns the object in one line.
func (s shown) String() string {
	switch o := s.object.(type) {
	case *v1.Node:
		return fmt.Sprintf("node %s at version %s: %v", o.UID, o.ResourceVersion, shown{o.Spec.Taints})
	case *v1.Pod:
		return fmt.Sprintf("pod %s on %q at version %s, %s, terminating: %v, tolerates %v", o.UID, o.Spec.NodeName,
			o.ResourceVersion, o.Status.Phase, o.DeletionTimestamp != nil, shown{o.Spec.Tolerations})
	}
	text, err := json.Marshal(s.object)
	must(err)
	return string(text)
}

// server is an API server in memory: nodes, pods, the log of all writes, and the program's own objects.
type server struct {
	line    timeline
	oracle  *oracle.Oracle
	version int
	nodes   []*v1.Node
	pods    []*v1.Pod
	log     []written
	wrote   func() // called after each write

	born    map[string]int                  // how many nodes and pods of a name there have been
	shapes  map[types.UID]podShape          // what pods were created with
	faults  map[kind]time.Duration          // when they end
	objects [journal.StateObject + 1]object // of the journal
	managed *rand.Rand                      // draws how managedFields are written; nil: not at all
	forbids func(object int) bool           // reports whether writes of an object are forbidden; nil: none are
	lease   lease
}

func newServer(line timeline, o *oracle.Oracle, wrote func()) *server {
	return &server{
		line: line, oracle: o, wrote: wrote,
		born: map[string]int{}, shapes: map[types.UID]podShape{}, faults: map[kind]time.Duration{},
	}
}

// stamp returns the present time as the API writes it: cut off to whole seconds.
func (s *server) stamp() metav1.Time {
	return metav1.Time{Time: s.at(s.line.now()).Truncate(time.Second)}
}

// at returns the time of the server's clock at a true moment.
func (s *server) at(now time.Duration) time.Time {
	return s.oracle.Epoch.Add(now + s.oracle.ServerAhead)
}

// node returns the node of that name; nil if there is none.
func (s *server) node(name string) *v1.Node {
	return find(s.nodes, func(n *v1.Node) bool { return n.Name == name })
}

// pod returns the pod of that name; nil if there is none.
func (s *server) pod(name string) *v1.Pod {
	return find(s.pods, func(p *v1.Pod) bool { return p.Name == name })
}

func find[T any](list []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}

// replaced returns the list with the object in the place of its previous version, or without both if it is gone.
func replaced[T metav1.Object](list []T, now T, gone bool) []T {
	switch i := slices.IndexFunc(list, func(o T) bool { return o.GetUID() == now.GetUID() }); {
	case i < 0 && gone:
	case i < 0:
		list = append(list, now)
	case gone:
		list = slices.Delete(list, i, i+1)
	default:
		list[i] = now
	}
	return list
}

// write writes the next version of a node or of a pod; if the object is gone, its last one.
func (s *server) write(w written) {
	s.version++
	w.version, w.at = s.version, s.line.now()
	if version := strconv.Itoa(s.version); w.node != nil {
		w.node.ResourceVersion = version
		s.nodes = replaced(s.nodes, w.node, w.gone)
		s.oracle.NodeWritten(w.at, w.node, w.gone)
	} else {
		w.pod.ResourceVersion = version
		s.pods = replaced(s.pods, w.pod, w.gone)
		s.oracle.PodWritten(w.at, w.pod, w.gone)
	}
	s.log = append(s.log, w)
	s.wrote()
}

// createNode creates a node unless the name exists.
func (s *server) createNode(name string) {
	if s.node(name) != nil {
		return
	}
	s.write(written{node: &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: s.uid(name), CreationTimestamp: s.stamp(), Labels: zoneOf(name),
	}}})
}

func (s *server) uid(name string) types.UID {
	s.born[name]++
	return types.UID(name + "." + strconv.Itoa(s.born[name]))
}

// changeNode writes a node, if it exists.
func (s *server) changeNode(name string, change func(n *v1.Node)) {
	if n := s.node(name); n != nil {
		now := *n
		change(&now)
		s.write(written{node: &now})
	}
}

func (s *server) deleteNode(name string) {
	if n := s.node(name); n != nil {
		last := *n
		s.write(written{node: &last, gone: true})
	}
}

// createPod creates a pod unless the name exists, and has it bound.
func (s *server) createPod(name, node string, tolerations []v1.Toleration, shape podShape) {
	if s.pod(name) != nil {
		return
	}
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: s.uid(name),
			CreationTimestamp: s.stamp(), Generation: 1,
		},
		Spec:   v1.PodSpec{Tolerations: tolerations},
		Status: v1.PodStatus{Phase: v1.PodPending},
	}
	if shape.mirror {
		p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "yes"}
	}
	s.shapes[p.UID] = shape
	s.write(written{pod: p})
	if shape.bindsAfter == 0 {
		s.bind(p.UID, node)
		return
	}
	s.line.after(shape.bindsAfter, func() { s.bind(p.UID, node) })
}

func (s *server) bind(uid types.UID, node string) {
	s.changePod(uid, func(p *v1.Pod) {
		p.Spec.NodeName = node
		if !s.shapes[uid].unscheduled {
			p.Status.Conditions = []v1.PodCondition{{
				Type: v1.PodScheduled, Status: v1.ConditionTrue,
				LastTransitionTime: s.stamp(),
			}}
		}
	})
}

// podOf returns the pod of that UID; nil if there is none.
func (s *server) podOf(uid types.UID) *v1.Pod {
	return find(s.pods, func(p *v1.Pod) bool { return p.UID == uid })
}

// changePod writes a pod, if it exists.
func (s *server) changePod(uid types.UID, change func(p *v1.Pod)) {
	if p := s.podOf(uid); p != nil {
		now := *p
		change(&now)
		s.write(written{pod: &now, before: p})
	}
}

// deletePod starts a graceful deletion, as the API server does for a DELETE, if the pod exists.
func (s *server) deletePod(uid types.UID) {
	p, shape := s.podOf(uid), s.shapes[uid]
	switch {
	case p == nil || p.DeletionTimestamp != nil:
		return
	case shape.grace == 0 && !shape.finalizer:
		s.removePod(uid)
		return
	}
	now := s.stamp()
	s.changePod(uid, func(p *v1.Pod) { p.DeletionTimestamp = &now; p.Generation++ })
	lasts := shape.grace
	if shape.finalizer {
		lasts += 20 * time.Second
	}
	s.line.after(lasts, func() { s.removePod(uid) })
}

// removePod removes a pod, and reports whether it existed.
func (s *server) removePod(uid types.UID) bool {
	p := s.podOf(uid)
	if p != nil {
		last := *p
		s.write(written{pod: &last, before: p, gone: true})
	}
	return p != nil
}

// watched reports whether the program watches the pod.
func watched(p *v1.Pod) bool {
	return p != nil && p.Spec.NodeName != ""
}

// answers reports whether the server can be reached, and answers.
func (s *server) answers() bool { return !s.strike(away) && !s.strike(hang) }

// begin starts a fault, or makes it last longer; strike reports whether there is one of that kind.
func (s *server) begin(k kind, lasts time.Duration) {
	s.faults[k] = max(s.faults[k], s.line.now()+lasts)
}

func (s *server) strike(k kind) bool { return s.line.now() < s.faults[k] }
