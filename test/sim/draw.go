package sim

import (
	"math/rand/v2"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podNames is the number of names of pods.
const podNames = 8

// drawer draws the actions of a plan.
type drawer struct {
	*rand.Rand
	plan    *plan
	created int // number of pods created so far
}

// choice is a kind of act, and how often it is to be drawn.
type choice struct {
	weight int
	draw   func() act
}

// draw draws one of the kinds, and an act of it.
func (d *drawer) draw(choices []choice) act {
	all := 0
	for i := range choices {
		all += choices[i].weight
	}
	n := d.IntN(all)
	for i := range choices {
		if n -= choices[i].weight; n < 0 {
			return choices[i].draw()
		}
	}
	panic("unreachable")
}

// changes returns what users and controllers do.
func (d *drawer) changes() []choice {
	return []choice{
		{22, d.set},
		{8, func() act { return d.flap(5 * time.Second) }},
		{10, func() act {
			node, key := d.node(), d.taint().Key
			return on("lift", node, func(s *server) { s.lift(node, key) })
		}},
		d.onNode(10, "swap", (*server).swap),
		d.onNode(3, "ready", (*server).ready),
		d.onNode(3, "rewrite", (*server).rewrite),
		d.onNode(4, "heartbeat", func(s *server, node string) { s.changeNode(node, func(*v1.Node) {}) }),
		{2, func() act {
			node, lasts := d.node(), span(d.Rand, 0, 2*time.Second)
			return on("delete node", node, func(s *server) {
				s.deleteNode(node)
				s.line.after(lasts, func() { s.createNode(node) })
			})
		}},
		{8, d.create},
		{3, func() act {
			pod, node, tolerations, shape := d.pod(), d.node(), d.tolerations(), d.shape()
			return on("replace pod", pod, func(s *server) { s.replacePod(pod, node, tolerations, shape) })
		}},
		{8, func() act {
			pod, tolerations := d.pod(), d.tolerations()
			return on("edit tolerations", pod, func(s *server) { s.tolerate(pod, tolerations) })
		}},
		d.onPod(3, "delete pod", (*server).deletePod),
		d.onPod(1, "delete pod by force", func(s *server, uid types.UID) { s.removePod(uid) }),
		d.onPod(1, "finish pod", (*server).finish),
		d.onPod(2, "touch pod", (*server).touch),
	}
}

// faults returns all other kinds of acts.
func (d *drawer) faults() []choice {
	const long = 10 * time.Second
	return []choice{
		d.strike(3, away), d.strike(1, hang), d.strike(3, failing), d.strike(2, throttling), d.strike(4, losing),
		d.strike(4, slow), d.strike(2, refusing), d.strike(2, budget), d.strike(1, journalBroken),
		d.befall(3, breakWatch, 0, long), d.befall(5, forgetWatch, 0, long), d.befall(3, stallWatch, 0, long),
		d.befall(6, kill, 0, long), d.befall(2, stop, 0, long), d.befall(2, pause, time.Second, 25*time.Second),
		d.befall(1, setClock, -time.Hour, time.Hour), d.befall(2, handOver, 0, 0),
		d.onNode(1, "journal partition lost", func(s *server, node string) { s.touchPartition(node, true) }),
		d.onNode(1, "journal partition of others", func(s *server, node string) { s.touchPartition(node, false) }),
	}
}

// on returns what users and controllers do to an object.
func on(kind, object string, do func(s *server)) act {
	return act{kind, object, func(s stage) { do(s.api()) }}
}

func (d *drawer) onNode(weight int, kind string, do func(s *server, node string)) choice {
	return choice{weight, func() act {
		node := d.node()
		return on(kind, node, func(s *server) { do(s, node) })
	}}
}

func (d *drawer) onPod(weight int, kind string, do func(s *server, uid types.UID)) choice {
	return choice{weight, func() act {
		pod := d.pod()
		return on(kind, pod, func(s *server) {
			if p := s.pod(pod); p != nil {
				do(s, p.UID)
			}
		})
	}}
}

func befall(replica int, m mishap, pods bool, lasts time.Duration) act {
	return act{string(m), "r" + strconv.Itoa(replica), func(s stage) { s.befalls(replica, m, pods, lasts) }}
}

func (d *drawer) befall(weight int, m mishap, least, most time.Duration) choice {
	return choice{weight, func() act {
		return befall(d.replica(), m, d.IntN(2) == 0, span(d.Rand, least, pick(d.Rand, most, max(least, most/10))))
	}}
}

func strike(f fault, lasts time.Duration) act {
	return act{string(f), lasts.String(), func(s stage) { s.strikes(f, lasts) }}
}

func (d *drawer) strike(weight int, f fault) choice {
	return choice{weight, func() act {
		return strike(f, span(d.Rand, 100*time.Millisecond, pick(d.Rand, 2*time.Second, 20*time.Second)))
	}}
}

func (d *drawer) set() act { return set(d.node(), d.taint(), d.timing()) }

func set(node string, t v1.Taint, ahead *time.Duration) act {
	return on("taint", node, func(s *server) { s.setTaint(node, t, ahead) })
}

// flap returns an act that removes a taint, and sets it again after a while.
func (d *drawer) flap(most time.Duration) act {
	node, n, t, ahead := d.node(), d.IntN(podNames), d.taint(), d.timing()
	lasts := span(d.Rand, 0, min(most, pick(d.Rand, 10*time.Millisecond, 500*time.Millisecond, 5*time.Second)))
	return on("flap", node, func(s *server) { s.flap(node, n, t, ahead, lasts) })
}

func (d *drawer) create() act {
	pod, node, tolerations, shape := podName(d.created%podNames), d.node(), d.tolerations(), d.shape()
	d.created++
	return on("create pod", pod, func(s *server) { s.createPod(pod, node, tolerations, shape) })
}

// stock adds pods and taints that exist before the program starts.
func (d *drawer) stock() {
	for range 1 + d.IntN(6) {
		d.plan.add(span(d.Rand, preface/2, preface-time.Minute), d.create())
	}
	if d.IntN(2) == 0 {
		d.plan.add(span(d.Rand, preface-time.Minute, preface), d.set())
	}
}

// next draws an act, or several that belong together.
func (d *drawer) next() {
	// Every other act follows the last one closely, as many defects need two acts in quick succession.
	at := d.moment()
	if last := d.plan.actions[len(d.plan.actions)-1].at; d.IntN(2) == 0 && last > preface {
		at = last + span(d.Rand, 0, pick(d.Rand, 50*time.Millisecond, time.Second, 4*time.Second))
	}
	switch {
	case d.IntN(12) == 0:
		d.unseen(at)
	case d.IntN(25) == 0:
		d.numbers(at)
	case d.IntN(3) == 0:
		d.plan.add(at, d.draw(d.faults()))
	default:
		d.plan.add(at, d.draw(d.changes()))
	}
}

// unseen breaks a watch of nodes, and changes taints before the watch is back.
func (d *drawer) unseen(at time.Duration) {
	lasts := span(d.Rand, 2*time.Second, 8*time.Second)
	d.plan.add(at, befall(d.replica(), pick(d.Rand, forgetWatch, kill), false, lasts))
	for range 1 + d.IntN(2) {
		d.plan.add(at+span(d.Rand, 0, lasts), d.draw([]choice{
			{1, func() act { return d.flap(lasts / 2) }},
			{1, d.set},
			d.onNode(1, "swap", (*server).swap), d.onNode(1, "rewrite", (*server).rewrite),
		}))
	}
}

// succession breaks watches of nodes, of the journal or of both, changes a taint before they are back, and then has the
// leader hand over or end.
func (d *drawer) succession() {
	at, lasts, what := d.moment(), span(d.Rand, 2*time.Second, 20*time.Second), d.IntN(4)
	for number := range d.plan.replicas {
		if what > 0 && d.IntN(4) > 0 {
			d.plan.add(at, befall(number, forgetWatch, false, lasts))
		}
		if what == 0 || what == 3 && d.IntN(2) == 0 {
			d.plan.add(at, befall(number, deafen, false, lasts))
		}
	}
	changed := at + span(d.Rand, 0, lasts/2)
	d.plan.add(changed, d.draw([]choice{{2, func() act { return d.flap(lasts / 4) }}, {1, d.set}}))
	over := pick(d.Rand, handOver, handOver, stop, kill)
	at = changed + span(d.Rand, 0, lasts/4+4*time.Second)
	for number := range d.plan.replicas {
		if over == handOver || d.IntN(2) == 0 {
			d.plan.add(at, befall(number, over, false, 0))
		}
	}
}

// storm taints all nodes within a second, while requests are slow.
func (d *drawer) storm() {
	begin := d.moment()
	d.plan.add(begin, d.strike(1, slow).draw())
	for node := range d.plan.nodes {
		t := v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute}
		d.plan.add(begin+span(d.Rand, 0, time.Second), set(nodeName(node), t, d.timing()))
	}
}

// numbers changes the value of a taint many times.
func (d *drawer) numbers(at time.Duration) {
	node, ahead := d.node(), d.timing()
	t := v1.Taint{Key: "load", Value: "high", Effect: v1.TaintEffectNoExecute}
	for range 4 + d.IntN(12) {
		d.plan.add(at, set(node, t, ahead))
		t.Value = strconv.Itoa(d.IntN(6))
		at += span(d.Rand, 10*time.Millisecond, 3*time.Second)
	}
}

func (d *drawer) moment() time.Duration { return preface + span(d.Rand, 0, d.plan.turmoil) }

func (d *drawer) node() string { return nodeName(d.IntN(d.plan.nodes)) }

// pod draws the name of a pod, which may be gone.
func (d *drawer) pod() string { return podName(d.IntN(min(max(d.created, 1), podNames))) }

func (d *drawer) replica() int { return d.IntN(d.plan.replicas) }

// timing draws how far a timeAdded is in the future; nil for no timeAdded.
func (d *drawer) timing() *time.Duration {
	switch n := d.IntN(20); {
	case n < 11:
		return nil
	case n < 18:
		return new(time.Duration(0))
	case n == 18:
		return new(-40 * time.Second)
	}
	return new(40 * time.Second)
}

func (d *drawer) taint() v1.Taint {
	t := v1.Taint{
		Key:    pick(d.Rand, "gpu", "gpu", "disk", "load", v1.TaintNodeNotReady, v1.TaintNodeUnreachable),
		Effect: v1.TaintEffectNoExecute,
	}
	if t.Key == "load" {
		t.Value = pick(d.Rand, "0", "1", "2", "3", "4", "5", "high")
	}
	if d.IntN(12) == 0 {
		t.Effect = v1.TaintEffectNoSchedule
	}
	return t
}

func (d *drawer) tolerations() (list []v1.Toleration) {
	for range d.IntN(5) {
		list = append(list, d.toleration())
	}
	return list
}

func (d *drawer) toleration() v1.Toleration {
	t := v1.Toleration{
		Key:      pick(d.Rand, "gpu", "disk", "load", "load", v1.TaintNodeNotReady, v1.TaintNodeUnreachable, ""),
		Operator: v1.TolerationOpExists,
		Effect:   pick(d.Rand, "", v1.TaintEffectNoExecute, v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule),
	}
	if t.Key == "load" {
		t.Operator = pick(d.Rand, "", v1.TolerationOpEqual, v1.TolerationOpExists, v1.TolerationOpGt, v1.TolerationOpLt)
	}
	if t.Operator != v1.TolerationOpExists {
		t.Value = pick(d.Rand, "1", "2", "3", "4", "high")
	}
	if d.IntN(4) > 0 {
		seconds := pick[int64](d.Rand, -1, 0, 1, 2, 3, 5, 5, 10, 20, 30, 18446744074, 999999999999)
		t.TolerationSeconds = &seconds
	}
	return t
}

func (d *drawer) shape() podShape {
	return podShape{
		mirror: d.IntN(20) == 0, unscheduled: d.IntN(6) == 0, finalizer: d.IntN(10) == 0,
		bindsAfter: pick(d.Rand, 0, span(d.Rand, 0, 3*time.Second)),
		grace:      pick(d.Rand, 0, time.Second, 5*time.Second, 30*time.Second),
	}
}
