package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/permutations"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// still is a time that changes only when it is set. It drops what is scheduled for later.
type still struct{ time time.Duration }

func (s *still) now() time.Duration { return s.time }

func (s *still) after(time.Duration, func()) {}

// desk is an API server, a cache and a shard's core, driven by hand.
type desk struct {
	t        *testing.T
	line     *still
	clock    *clock
	server   *server
	observer *oracle.Process
	feed     *cluster.Feed
	core     *shard.Core
	waiting  *dispatch.Core // does not lead
	lazy     bool           // the shard looks only at the end
	told     []shard.Input
}

func (d *desk) now() time.Time { return d.clock.at(d.line.time) }

// NodeChanged is called by the cache.
func (d *desk) NodeChanged(name string) { d.tell(shard.NodeChanged{Name: name}) }

// PodChanged is called by the cache.
func (d *desk) PodChanged(uid types.UID, _ string) { d.tell(shard.PodChanged{UID: uid}) }

// NodesChanged, NodesListed and NamespacesChanged are of no use to a shard.
func (d *desk) NodesChanged([]breaker.NodeChange, bool) {}
func (d *desk) RecordChanged(string)                    {}
func (d *desk) NamespacesChanged()                      {}

func (d *desk) tell(in shard.Input) {
	if !slices.Contains(d.told, in) {
		d.told = append(d.told, in)
	}
	if !d.lazy {
		d.judge()
	}
}

// judge makes the shard process its events, nodes first.
func (d *desk) judge() {
	slices.SortStableFunc(d.told, func(a, b shard.Input) int { return rank(a) - rank(b) })
	for _, in := range d.told {
		d.core.Step(d.now(), in)
	}
	d.told = nil
}

func rank(in shard.Input) int {
	if _, ok := in.(shard.NodeChanged); ok {
		return 0
	}
	return 1
}

// newDesk returns a desk with the node n0, tainted "net" since the beginning, and with the pods p0 and p1 on it.
func newDesk(t *testing.T, lazy bool) *desk {
	line := &still{time: preface}
	o := oracle.New(epoch())
	d := &desk{t: t, line: line, clock: newClock(preface, 0), lazy: lazy}
	d.server = newServer(line, o, func() {})
	d.observer = o.Started("shard", d.clock.ahead)
	d.feed = cluster.NewFeed(taint.Rules{}, d, d.now)
	half := func() float64 { return 0.5 }
	d.waiting = dispatch.NewCore(d.now(), dispatch.CoreOptions{Workers: 1, Jitter: half})
	d.core = shard.NewCore(shard.CoreOptions{
		Reader: d.feed, Judge: func() policy.Judge { return policy.Judge{} }, Jitter: half,
		Dispatcher: dispatcher{d.waiting, d.now, func(dispatch.Effects) {}},
	})
	d.list()
	d.server.createNode("n0")
	d.server.do(&action{kind: setTaint, taint: noExecute("net")})
	d.server.createPod("p0", "n0", []v1.Toleration{bearing("net", 30), bearing("gpu", 20)}, podShape{})
	d.server.createPod("p1", "n0", []v1.Toleration{bearing("net", 40), bearing("disk", 5)}, podShape{})
	d.deliver(d.events(0))
	line.time += 10 * time.Second
	return d
}

// list shows an empty cluster to the cache.
func (d *desk) list() {
	for _, store := range []interface {
		Replace([]any, string) error
	}{d.feed.Nodes(), d.feed.Pods()} {
		if err := store.Replace(nil, ""); err != nil {
			d.t.Fatal(err)
		}
	}
	d.observer.ListedNodes(d.line.time, nil, 0, oracle.FirstListed)
	d.observer.ListedPods(d.line.time, nil, oracle.FirstListed)
}

// events returns the events of the watches for the log from a position on.
func (d *desk) events(from int) []*written {
	var list []*written
	for i := range d.server.log[from:] {
		list = append(list, &d.server.log[from+i])
	}
	return list
}

// deliver shows events to the cache.
func (d *desk) deliver(events []*written) {
	for _, w := range events {
		var err error
		switch {
		case w.node != nil && w.gone:
			d.observer.WatchedNode(d.line.time, w.node, true)
			err = d.feed.Nodes().Delete(w.node)
		case w.node != nil:
			d.observer.WatchedNode(d.line.time, w.node, false)
			err = d.feed.Nodes().Update(w.node)
		case podEvent(w) == watch.Deleted:
			d.observer.WatchedPod(d.line.time, w.pod, true)
			err = d.feed.Pods().Delete(w.pod)
		case podEvent(w) != "":
			d.observer.WatchedPod(d.line.time, w.pod, false)
			err = d.feed.Pods().Update(w.pod)
		}
		if err != nil {
			d.t.Fatal(err)
		}
	}
}

// schedule returns the deadlines of all pods, and requires that the queue contains nothing else.
func (d *desk) schedule() string {
	d.judge()
	var lines []string
	for uid, h := range heldBy(d.core, d.clock, d.now()) {
		if h.Queued {
			lines = append(lines, fmt.Sprintf("%s at %v", name(uid), h.Deadline-preface))
		}
	}
	if n := d.core.Scheduled() + d.waiting.Waiting(); len(lines) != n {
		lines = append(lines, fmt.Sprintf("%d scheduled", n))
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// name returns a UID without its count: a pod that was replaced twice equals one that was replaced once.
func name(uid types.UID) string {
	base, _, _ := strings.Cut(string(uid), ".")
	return base
}

// state returns the objects in the API, and since when they have been in their state.
func (d *desk) state() string {
	var lines []string
	for _, n := range d.server.nodes {
		for i := range n.Spec.Taints {
			t := &n.Spec.Taints[i]
			lines = append(lines, fmt.Sprintf("%s %s since %v", n.Name, t.ToString(), d.since(n, t)))
		}
	}
	for _, p := range d.server.pods {
		lines = append(lines, fmt.Sprintf("%s on %s since %v %v", name(p.UID), p.Spec.NodeName, d.bound(p), shown{p.Spec.Tolerations}))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// since returns when the taint was set.
func (d *desk) since(n *v1.Node, t *v1.Taint) (at time.Duration) {
	there := false
	for i := range d.server.log {
		w := &d.server.log[i]
		if w.node == nil || w.node.UID != n.UID {
			continue
		}
		has := slices.ContainsFunc(w.node.Spec.Taints, func(other v1.Taint) bool { return other.MatchTaint(t) })
		if has && !there {
			at = w.at
		}
		there = has
	}
	return at
}

func (d *desk) bound(p *v1.Pod) time.Duration {
	for i := range d.server.log {
		if w := &d.server.log[i]; w.pod != nil && w.pod.UID == p.UID && w.pod.Spec.NodeName != "" {
			return w.at
		}
	}
	return 0
}

// change is a change that happens if it is possible.
type change struct {
	what   string
	can    func(s *server) bool
	action action
}

// String returns what changes.
func (c change) String() string { return c.what }

// always is the condition of a change that is possible at any time.
func always(*server) bool { return true }

func has(key string) func(*server) bool {
	return func(s *server) bool {
		n := s.node("n0")
		return n != nil && slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == key })
	}
}

func lacks(key string) func(*server) bool {
	return func(s *server) bool { return s.node("n0") != nil && !has(key)(s) }
}

func noExecute(key string) v1.Taint { return v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute} }

func bearing(key string, seconds int64) v1.Toleration {
	return v1.Toleration{Key: key, Operator: v1.TolerationOpExists, TolerationSeconds: &seconds}
}

// sequences returns short sequences, so that all their orders can be tried.
func sequences() map[string][]change {
	set := func(key string) change {
		return change{key + " set", lacks(key), action{kind: setTaint, taint: noExecute(key)}}
	}
	lift := func(key string) change {
		return change{key + " lifted", has(key), action{kind: liftTaint, taint: noExecute(key)}}
	}
	edit := func(what string, list ...v1.Toleration) change {
		return change{what, always, action{kind: tolerate, tolerations: list}}
	}
	replaced := change{"p1 replaced", always, action{kind: replacePod, pod: 1, tolerations: []v1.Toleration{bearing("", 50)}}}
	gone := change{"node gone", func(s *server) bool { return s.node("n0") != nil }, action{kind: deleteNode}}
	back := change{"node back", func(s *server) bool { return s.node("n0") == nil }, action{}}
	beat := change{"heartbeat", always, action{kind: heartbeat}}
	return map[string][]change{
		"taints come and go":       {set("gpu"), lift("gpu"), set("disk"), lift("net"), set("net"), beat},
		"tolerations change too":   {set("gpu"), lift("net"), edit("p0 bears net for longer", bearing("net", 60)), edit("p0 bears all", bearing("", 15)), set("disk")},
		"pods come and go":         {set("gpu"), lift("net"), replaced, {"p0 gone", always, action{kind: forceDelete}}, {"p2 comes", always, action{kind: createPod, pod: 2}}},
		"pods finish":              {set("gpu"), lift("gpu"), {"p0 finishes", always, action{kind: finishPod}}, edit("p0 bears all", bearing("", 15)), replaced},
		"the node is made again":   {gone, back, set("gpu"), replaced, edit("p0 bears all", bearing("", 15))},
		"not-ready to unreachable": {set(v1.TaintNodeNotReady), lift(v1.TaintNodeNotReady), set(v1.TaintNodeUnreachable), lift("net"), edit("p0 bears all", bearing("", 15))},
	}
}

// TestAllOrdersThatEndInOneStateEndInOneSchedule plays every possible order of each sequence, with every
// interleaving of the node watch and the pod watch, with a shard that looks at once, and with one that looks at the
// end.
func TestAllOrdersThatEndInOneStateEndInOneSchedule(t *testing.T) {
	for what, changes := range sequences() {
		t.Run(what, func(t *testing.T) {
			schedules := map[string]string{} // by state
			runs := 0
			for order := range permutations.Of(changes) {
				scout := newDesk(t, true)
				from := len(scout.server.log)
				if !scout.play(order) {
					continue
				}
				interleave(scout.events(from), func(events []*written) {
					for _, lazy := range []bool{false, true} {
						runs++
						d := newDesk(t, lazy)
						d.play(order)
						d.deliver(events)
						d.check(order, schedules)
					}
				})
			}
			if strings.Join(slices.Collect(maps.Values(schedules)), "") == "" {
				t.Error("nobody is to go in any state: nothing is compared")
			}
			t.Logf("%d runs end in %d states", runs, len(schedules))
		})
	}
}

// check compares the schedule with those of other orders that ended in the same state, and with the oracle.
func (d *desk) check(order []change, schedules map[string]string) {
	state, schedule := d.state(), d.schedule()
	if before, ok := schedules[state]; ok && before != schedule {
		d.t.Fatalf("order %v ends in\n%s\nwith the schedule %q; another order with %q", order, state, schedule, before)
	}
	schedules[state] = schedule
	held := heldBy(d.core, d.clock, d.now())
	err := d.observer.Settled(d.line.time, d.core.Scheduled()+d.waiting.Waiting(), held)
	if err != nil {
		d.t.Fatalf("order %v: %v", order, err)
	}
}

// play makes the changes in this order. It returns false if that is not possible.
func (d *desk) play(order []change) bool {
	for _, c := range order {
		switch {
		case !c.can(d.server):
			return false
		case c.action.kind == "":
			d.server.createNode("n0")
		default:
			d.server.do(&c.action)
		}
	}
	return true
}

// interleave calls f with every order of the events in which those of nodes, and those of pods, keep their order.
func interleave(events []*written, f func([]*written)) {
	var nodes, pods []*written
	for _, w := range events {
		if w.node != nil {
			nodes = append(nodes, w)
		} else {
			pods = append(pods, w)
		}
	}
	var merge func(done, nodes, pods []*written)
	merge = func(done, nodes, pods []*written) {
		if len(nodes)+len(pods) == 0 {
			f(done)
			return
		}
		if len(nodes) > 0 {
			merge(append(slices.Clip(done), nodes[0]), nodes[1:], pods)
		}
		if len(pods) > 0 {
			merge(append(slices.Clip(done), pods[0]), nodes, pods[1:])
		}
	}
	merge(nil, nodes, pods)
}
