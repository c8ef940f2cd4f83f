package sim

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
)

// podNames is the number of names of pods.
const podNames = 8

type drawer struct {
	r       *rand.Rand
	plan    *plan
	at      time.Duration
	created int // number of pods created so far
}

// common returns the kinds of actions of users and controllers. A kind that is drawn more often is repeated more often.
func common() []kind {
	return slices.Concat(
		times(22, setTaint), times(10, liftTaint), times(8, flap), times(10, swap), times(3, ready, rewrite),
		times(4, heartbeat), times(2, deleteNode),
		times(8, createPod), times(3, deletePod), times(1, forceDelete), times(3, replacePod),
		times(8, tolerate), times(1, finishPod), times(2, touchPod),
	)
}

// faults returns all other kinds, in the same way.
func faults() []kind {
	return slices.Concat(
		times(3, away), times(1, hang), times(3, failing), times(2, throttling), times(4, losing),
		times(4, slow), times(2, refusing, budget),
		times(3, breakWatch), times(5, forgetWatch), times(3, stallWatch),
		times(6, kill), times(2, stop, pause), times(1, setClock), times(2, handOver),
		times(1, losePartition, touchPartition, journalBroken),
	)
}

// times returns each of the kinds n times.
func times(n int, kinds ...kind) (all []kind) {
	for _, k := range kinds {
		all = append(all, slices.Repeat([]kind{k}, n)...)
	}
	return all
}

// stock adds pods and taints that exist before the program starts.
func (d *drawer) stock() {
	for range 1 + d.r.IntN(6) {
		d.add(d.action(createPod, span(d.r, preface/2, preface-time.Minute)))
	}
	if d.r.IntN(2) == 0 {
		d.add(d.action(setTaint, span(d.r, preface-time.Minute, preface)))
	}
}

// next draws an action, or several that belong together.
func (d *drawer) next() {
	// Every other action follows the last one closely, as many defects need two actions in quick succession.
	d.at = preface + span(d.r, 0, d.plan.turmoil)
	if n := len(d.plan.actions); d.r.IntN(2) == 0 && d.plan.actions[n-1].at > preface {
		d.at = d.plan.actions[n-1].at + span(d.r, 0, pick(d.r, 50*time.Millisecond, time.Second, 4*time.Second))
	}
	d.at = min(d.at, preface+d.plan.turmoil)
	switch {
	case d.r.IntN(12) == 0:
		d.unseen()
	case d.r.IntN(25) == 0:
		d.numbers()
	case d.r.IntN(3) == 0:
		d.add(d.action(pick(d.r, faults()...), d.at))
	default:
		d.add(d.action(pick(d.r, common()...), d.at))
	}
}

// unseen breaks a watch of nodes, and changes taints before the watch is back.
func (d *drawer) unseen() {
	broken := d.action(pick(d.r, forgetWatch, kill), d.at)
	broken.pods = false
	broken.lasts = span(d.r, 2*time.Second, 8*time.Second)
	d.add(broken)
	for range 1 + d.r.IntN(2) {
		change := d.action(pick(d.r, flap, swap, rewrite, setTaint), d.at+span(d.r, 0, broken.lasts))
		change.lasts = min(change.lasts, broken.lasts/2)
		d.add(change)
	}
}

// succession breaks watches of nodes, changes a taint before they are back, and then has the leader hand over or end.
func (d *drawer) succession() {
	d.at = preface + span(d.r, 0, d.plan.turmoil)
	lasts := span(d.r, 2*time.Second, 20*time.Second)
	for replica := range d.plan.replicas {
		gap := d.action(forgetWatch, d.at)
		gap.replica, gap.pods, gap.lasts = replica, false, lasts
		if d.r.IntN(2) > 0 {
			d.add(gap)
		}
	}
	change := d.action(pick(d.r, flap, flap, setTaint), d.at+span(d.r, 0, lasts/2))
	change.lasts = min(change.lasts, lasts/4)
	d.add(change)
	over := d.action(pick(d.r, handOver, handOver, stop, kill), change.at+change.lasts+span(d.r, 0, 4*time.Second))
	for over.replica = range d.plan.replicas {
		if over.kind == handOver || d.r.IntN(2) == 0 {
			d.add(over)
		}
	}
}

// storm taints all nodes within a second, while requests are slow.
func (d *drawer) storm() {
	begin := preface + span(d.r, 0, d.plan.turmoil)
	d.add(d.action(slow, begin))
	for node := range d.plan.nodes {
		change := d.action(setTaint, begin+span(d.r, 0, time.Second))
		change.node, change.taint = node, v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute}
		d.add(change)
	}
}

// numbers changes the value of a taint many times.
func (d *drawer) numbers() {
	change := d.action(setTaint, d.at)
	change.taint = v1.Taint{Key: "load", Value: "high", Effect: v1.TaintEffectNoExecute}
	for range 4 + d.r.IntN(12) {
		d.add(change)
		change.taint.Value = strconv.Itoa(d.r.IntN(6))
		change.at += span(d.r, 10*time.Millisecond, 3*time.Second)
	}
}

func (d *drawer) add(one action) {
	one.at = min(one.at, preface+d.plan.turmoil)
	d.plan.actions = append(d.plan.actions, one)
}

func (d *drawer) action(k kind, at time.Duration) action {
	one := action{
		at: at, kind: k, node: d.r.IntN(d.plan.nodes), pod: d.r.IntN(max(d.created, 1)),
		replica: d.r.IntN(d.plan.replicas),
		pods:    d.r.IntN(2) == 0, timed: d.timing(), lasts: d.lasts(k),
	}
	switch k {
	case setTaint, liftTaint, flap:
		one.taint = d.taint()
	case createPod:
		one.pod = d.created % podNames
		d.created++
		one.tolerations, one.shape = d.tolerations(), d.shape()
	case replacePod:
		one.tolerations, one.shape = d.tolerations(), d.shape()
	case tolerate:
		one.tolerations = d.tolerations()
	}
	return one
}

func (d *drawer) lasts(k kind) time.Duration {
	switch k {
	case flap:
		return span(d.r, 0, pick(d.r, 10*time.Millisecond, 500*time.Millisecond, 5*time.Second))
	case deleteNode:
		return span(d.r, 0, 2*time.Second)
	case breakWatch, forgetWatch, stallWatch, kill, stop:
		return span(d.r, 0, pick(d.r, time.Second, 10*time.Second))
	case pause:
		return span(d.r, time.Second, 25*time.Second)
	case setClock:
		return span(d.r, -time.Hour, time.Hour)
	}
	if k.isFault() {
		return span(d.r, 100*time.Millisecond, pick(d.r, 2*time.Second, 20*time.Second))
	}
	return 0
}

// timing draws how far a timeAdded is in the future; nil for no timeAdded.
func (d *drawer) timing() *time.Duration {
	switch n := d.r.IntN(20); {
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
		Key:    pick(d.r, "gpu", "gpu", "disk", "load", v1.TaintNodeNotReady, v1.TaintNodeUnreachable),
		Effect: v1.TaintEffectNoExecute,
	}
	if t.Key == "load" {
		t.Value = pick(d.r, "0", "1", "2", "3", "4", "5", "high")
	}
	if d.r.IntN(12) == 0 {
		t.Effect = v1.TaintEffectNoSchedule
	}
	return t
}

func (d *drawer) tolerations() (list []v1.Toleration) {
	for range d.r.IntN(5) {
		list = append(list, d.toleration())
	}
	return list
}

func (d *drawer) toleration() v1.Toleration {
	t := v1.Toleration{
		Key:      pick(d.r, "gpu", "disk", "load", "load", v1.TaintNodeNotReady, v1.TaintNodeUnreachable, ""),
		Operator: v1.TolerationOpExists,
		Effect:   pick(d.r, "", v1.TaintEffectNoExecute, v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule),
	}
	if t.Key == "load" {
		t.Operator = pick(d.r, "", v1.TolerationOpEqual, v1.TolerationOpExists, v1.TolerationOpGt, v1.TolerationOpLt)
	}
	if t.Operator != v1.TolerationOpExists {
		t.Value = pick(d.r, "1", "2", "3", "4", "high")
	}
	if d.r.IntN(4) > 0 {
		seconds := pick[int64](d.r, -1, 0, 1, 2, 3, 5, 5, 10, 20, 30, 18446744074, 999999999999)
		t.TolerationSeconds = &seconds
	}
	return t
}

func (d *drawer) shape() podShape {
	return podShape{
		mirror: d.r.IntN(20) == 0, unscheduled: d.r.IntN(6) == 0, finalizer: d.r.IntN(10) == 0,
		bindsAfter: pick(d.r, 0, span(d.r, 0, 3*time.Second)),
		grace:      pick(d.r, 0, time.Second, 5*time.Second, 30*time.Second),
	}
}
