package sim

import (
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// do performs an action. An action whose object does not exist has no effect.
func (w *World) do(d *action) {
	w.say("world", "%v", d)
	w.counts[string(d.kind)]++
	switch {
	case w.server.do(d):
	case d.kind.isFault():
		w.doFault(d)
	case d.kind == losePartition || d.kind == touchPartition || d.kind == forge:
		w.doPartition(d)
	case w.processes[d.replica] != nil:
		w.doProcess(d, w.processes[d.replica])
	}
}

// do performs the action if it is one of users or controllers on nodes or pods, and reports whether it is.
func (s *server) do(d *action) bool {
	return s.doNode(d, nodeName(d.node)) || s.doPod(d, podName(d.pod))
}

// doNode performs the actions of users and of the node lifecycle controller on nodes.
func (s *server) doNode(d *action, name string) bool {
	switch d.kind {
	case setTaint:
		s.changeTaints(name, func(list []v1.Taint) []v1.Taint { return with(list, s.timed(d.taint, d.timed)) })
	case liftTaint:
		s.changeTaints(name, func(list []v1.Taint) []v1.Taint { return without(list, d.taint.Key) })
	case flap:
		s.flap(d, name)
	case swap:
		s.changeTaints(name, s.swapped)
	case ready:
		s.changeTaints(name, func(list []v1.Taint) []v1.Taint {
			return without(list, v1.TaintNodeNotReady, v1.TaintNodeUnreachable)
		})
	case rewrite:
		s.changeTaints(name, s.rewritten)
	case heartbeat:
		s.changeNode(name, func(*v1.Node) {})
	case deleteNode:
		s.deleteNode(name)
		s.line.after(d.lasts, func() { s.createNode(name) })
	default:
		return false
	}
	return true
}

func (s *server) flap(d *action, name string) {
	key := d.taint.Key
	if n := s.node(name); n != nil && len(n.Spec.Taints) > 0 {
		key = n.Spec.Taints[d.pod%len(n.Spec.Taints)].Key
	}
	lifted := d.taint
	s.changeTaints(name, func(list []v1.Taint) []v1.Taint {
		for _, t := range list {
			if t.Key == key {
				lifted = t
			}
		}
		return without(list, key)
	})
	s.line.after(d.lasts, func() {
		s.changeTaints(name, func(list []v1.Taint) []v1.Taint { return with(list, s.timed(lifted, d.timed)) })
	})
}

func (s *server) changeTaints(name string, change func([]v1.Taint) []v1.Taint) {
	s.changeNode(name, func(n *v1.Node) {
		n.Spec.Taints = change(slices.Clone(n.Spec.Taints))
		if s.managed != nil {
			n.ManagedFields = s.managedFields(n.ManagedFields)
		}
	})
}

// managedFields returns the managedFields after the taints were written: mostly true, but sometimes missing, without a
// time, as they were before, or with the earlier time at which a slow request was received.
func (s *server) managedFields(before []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	at := s.stamp()
	entry := metav1.ManagedFieldsEntry{
		Manager: "kubectl-taint", Operation: metav1.ManagedFieldsOperationUpdate, Time: &at,
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:taints":{}}}`),
	}
	switch s.managed.IntN(12) {
	case 0:
		return nil
	case 1:
		entry.Time = nil
	case 2:
		return before
	case 3:
		at.Time = at.Add(-span(s.managed, 0, 30*time.Second)).Truncate(time.Second)
	}
	return []metav1.ManagedFieldsEntry{entry}
}

// timed returns the taint as kubectl or a controller sets it now.
func (s *server) timed(t v1.Taint, ahead *time.Duration) v1.Taint {
	if t.TimeAdded = nil; ahead != nil {
		t.TimeAdded = &metav1.Time{Time: s.stamp().Add(*ahead)}
	}
	return t
}

// stamped returns the taint with the present time as its timeAdded.
func (s *server) stamped(t v1.Taint) v1.Taint { return s.timed(t, new(time.Duration(0))) }

// swapped returns the taints after the node lifecycle controller has seen the node fail in another way: unreachable
// replaces not-ready, or the reverse, in one write, and timeAdded is now.
func (s *server) swapped(list []v1.Taint) []v1.Taint {
	from, to := v1.TaintNodeNotReady, v1.TaintNodeUnreachable
	if slices.ContainsFunc(list, func(t v1.Taint) bool { return t.Key == to }) {
		from, to = to, from
	}
	return with(without(list, from), s.stamped(v1.Taint{Key: to, Effect: v1.TaintEffectNoExecute}))
}

// rewritten returns the taints after that controller was restarted: timeAdded is now.
func (s *server) rewritten(list []v1.Taint) []v1.Taint {
	for i := range list {
		if list[i].Key == v1.TaintNodeNotReady || list[i].Key == v1.TaintNodeUnreachable {
			list[i] = s.stamped(list[i])
		}
	}
	return list
}

// with returns the list with the taint, which replaces a taint with the same key and effect.
func with(list []v1.Taint, t v1.Taint) []v1.Taint {
	for i := range list {
		if list[i].Key == t.Key && list[i].Effect == t.Effect {
			if list[i].Value == t.Value {
				t.TimeAdded = list[i].TimeAdded // the taint exists already
			}
			list[i] = t
			return list
		}
	}
	return append(list, t)
}

func without(list []v1.Taint, keys ...string) []v1.Taint {
	return slices.DeleteFunc(list, func(t v1.Taint) bool { return slices.Contains(keys, t.Key) })
}

// doPod performs the actions of users, controllers and kubelets on pods.
func (s *server) doPod(d *action, name string) bool {
	var uid types.UID // empty if there is no such pod
	if p := s.pod(name); p != nil {
		uid = p.UID
	}
	switch d.kind {
	case createPod:
		s.createPod(name, nodeName(d.node), d.tolerations, d.shape)
	case deletePod:
		s.deletePod(uid)
	case forceDelete:
		s.removePod(uid)
	case replacePod:
		if s.removePod(uid) {
			s.createPod(name, nodeName(d.node), d.tolerations, d.shape)
		}
	case tolerate:
		s.changePod(uid, func(p *v1.Pod) { p.Spec.Tolerations = d.tolerations; p.Generation++ })
	case finishPod:
		s.changePod(uid, func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
	case touchPod:
		s.changePod(uid, func(p *v1.Pod) {
			if p.Status.Phase == v1.PodPending { // what has finished never runs again
				p.Status.Phase = v1.PodRunning
			}
		})
	default:
		return false
	}
	return true
}

func (w *World) doFault(d *action) {
	w.server.begin(d.kind, d.lasts)
	if d.kind != away && d.kind != hang {
		return
	}
	for _, p := range w.up() {
		for _, s := range []*stream{p.nodes, p.pods} {
			if d.kind == hang {
				s.stall(d.lasts)
			} else {
				s.breaks(0, false)
			}
		}
	}
}

// doPartition changes a partition of the journal on the server, without a replica.
func (w *World) doPartition(d *action) {
	i := journal.PartitionOf(nodeName(d.node))
	o := w.server.objects[i]
	if o.Version == "" {
		return
	}
	switch d.kind {
	case losePartition:
		o.Data, o.records = nil, nil
	case forge:
		w.server.forge(i, &o)
		w.counts["Forged"]++
	}
	w.server.replaceObject(i, o)
}

// forge makes all taints of a partition half a minute older. The partition claims to know all nodes as they are now.
func (s *server) forge(i int, o *object) {
	content, _, err := journal.Decode(i, o.Data)
	if err != nil {
		return
	}
	latest := 0
	for _, n := range s.nodes {
		version, _ := strconv.Atoi(n.ResourceVersion)
		latest = max(latest, version)
	}
	for node, record := range content.Records {
		record.Version = strconv.Itoa(latest)
		content.Records[node] = record
		for _, states := range record.Taints {
			for j := range states {
				states[j].Start = states[j].Start.Add(-30 * time.Second)
			}
		}
	}
	o.Data, _ = journal.Encode(content)
	o.forged = true
}

func (w *World) doProcess(d *action, p *process) {
	watch := p.nodes
	if d.pods {
		watch = p.pods
	}
	switch d.kind {
	case breakWatch, forgetWatch:
		watch.breaks(d.lasts, d.kind == forgetWatch)
	case stallWatch:
		watch.stall(d.lasts)
	case kill:
		p.die()
		w.after(d.lasts, func() { w.startAgain(d.replica) })
	case stop:
		p.stop()
		w.after(d.lasts, func() { w.startAgain(d.replica) })
	case pause:
		p.freeze(d.lasts)
	case setClock:
		w.clocks[d.replica] += d.lasts
		p.clock.ahead = w.clocks[d.replica]
		p.observer.ClockSet(p.clock.ahead)
	case handOver:
		if p.term != nil {
			p.release()
		}
	}
}

// startAgain starts a replica that is down; if the replica is ending, startAgain waits until it is down.
func (w *World) startAgain(replica int) {
	switch p := w.processes[replica]; {
	case p == nil:
		w.start(replica)
	case p.ending:
		w.after(time.Second, func() { w.startAgain(replica) })
	}
}

// stall stops the deliveries of a watch for a while.
func (s *stream) stall(lasts time.Duration) { s.quietTil = max(s.quietTil, s.w.now()+lasts) }
