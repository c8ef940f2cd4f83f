package foresight

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// Explain explains the verdict on a pod. If namespace is empty, Explain uses a namespace that has a pod of this name
// or, if none has, events about such a pod. For a pod that is gone, Explain returns only the events. It returns an
// error if it cannot say anything about the pod.
func (m *Model) Explain(namespace, name string, at time.Time) (*Explanation, error) {
	if found := m.Find(name); namespace == "" && len(found) > 0 {
		namespace = found[0]
	}
	p := named(maps.Values(m.pods), namespace, name)
	own, earlier := m.eventsOf(namespace, name, p)
	e := &Explanation{
		Header: header("Explanation", at), Pod: ExplainedPod{PodRef: PodRef{Namespace: namespace, Name: name}},
		Events: own, EvictionMethod: m.rules.method(), read: m.readBefore(at),
	}
	if hidden := named(slices.Values(m.leftOut), namespace, name); p == nil && hidden != nil {
		return nil, fmt.Errorf("pod %s cannot be explained: it is in %s, but a masked value in "+maskable+" may decide",
			hidden.Key(), m.reading.From)
	}
	if p == nil {
		e.Remarks = m.readingRemarks()
		e.Incomplete = m.unlisted(namespace)
		e.Pod.Gone = len(e.Incomplete) == 0
		m.addPast(e, nil, earlier)
		return e, nil
	}
	if unknown := m.unjudged(nil, &m.rules); len(unknown) > 0 {
		return nil, fmt.Errorf("pod %s cannot be explained: in %s %s", p.Key(), m.reading.From,
			strings.Join(append(unknown, m.reading.Missing...), "; and "))
	}
	e.Pod = ExplainedPod{PodRef: p.ref(), Phase: string(p.Phase), Ends: p.ends}
	e.Disruption, e.Stuck, e.Budgets = p.disruption, m.stuck(p, e.read), m.budgetsOf(p)
	by := m.rulesNow(at)
	d := m.explainPod(p, e, &by)
	m.addPast(e, p, earlier)
	evicted := e.Prediction.Evict && e.Prediction.DeleteAt == nil
	for i := range e.Budgets {
		keeps, _, forever := e.keptBy(&e.Budgets[i])
		if e.Blocker == "" && (e.Overdue() || evicted && forever) {
			e.Blocker = keeps
		}
	}
	e.Commands = commands(p, e)
	e.Remarks = m.remarks(d, nil, &by)
	e.Incomplete = append(m.gaps(nil, &m.rules), m.unknownDevices(slices.Values([]*pod{p}))...)
	m.noteDevices(&e.Remarks, m.users, []*pod{p})
	e.Warnings = append(e.Warnings, m.podWarnings(p)...)
	if p.rejected {
		e.Notes = append(e.Notes, rejectedNote)
	}
	if note := sparedNote(m.spared([]string{p.Node})); note != "" {
		e.Notes = append(e.Notes, note)
	}
	if e.Prediction.Own = isOwn(m.self(), p, e.Prediction); e.Prediction.Own {
		e.noteOwn([]string{p.Key()})
	}
	if e.Prediction.Evict {
		m.addPace(e, going{p, e.Prediction}, &by)
		m.addBudgetsUnknown(&e.Remarks, e.Method() == evictMethod)
	}
	return e, nil
}

// unlisted returns why a pod of this namespace may exist although it was not read; nil if it is gone.
func (m *Model) unlisted(namespace string) []string {
	why := m.reading.MayLackPods()
	if listed := m.reading.PodNamespaces; why == "" && m.reading.Dumped && !listed[namespace] && !listed[""] {
		why = m.reading.From + " has no list of the pods in namespace " + namespace
	}
	if why == "" {
		return nil
	}
	return []string{"it is unknown whether the pod exists, because " + why}
}

// podWarnings returns warnings about a pod's tolerations, including those of outages, and its eviction responders.
func (m *Model) podWarnings(p *pod) []string {
	n := m.nodes[p.Node]
	if n == nil || taint.NeverEvicted(&p.Pod) != 0 {
		return nil
	}
	rules, taints := m.rules.config.Rules, n.Taints
	if p.Daemon { // its controller adds tolerations of both outage taints, which replace each other
		there := func(t v1.Taint) bool {
			return slices.ContainsFunc(n.Taints, func(has v1.Taint) bool { return has.MatchTaint(&t) })
		}
		taints = slices.Concat(taints, slices.DeleteFunc(outage(), there))
	}
	return slices.Concat(
		shadowedWarnings(&p.Pod, taints, rules), displacedWarnings(&p.Pod, outage(), rules), p.responders())
}

// budgetsOf returns the budgets that select the pod; none if the pod can no longer be evicted.
func (m *Model) budgetsOf(p *pod) (list []ExplainedBudget) {
	if !p.replica() {
		return nil
	}
	these, asked := covering(m.budgetsInOrder(), p, p.Ready)
	for _, b := range these {
		stuck := asked && b.Admits == 0 && m.lost(p) && m.requiresDead(b)
		list = append(list, ExplainedBudget{b.Name, b.Admits, b.Never, asked, stuck})
	}
	return list
}

// named returns the pod with this name; nil if there is none. If namespace is empty, any namespace counts.
func named(pods iter.Seq[*pod], namespace, name string) *pod {
	for p := range pods {
		if p.Name == name && (namespace == "" || namespace == p.Namespace) {
			return p
		}
	}
	return nil
}

// explainPod adds the pod's prediction, and what each taint of the pod's node contributes to the prediction.
func (m *Model) explainPod(p *pod, e *Explanation, by *rulesAt) (d doubts) {
	prediction, verdict := m.predict(by, p, m.users)
	e.Prediction = &prediction
	n := m.nodes[p.Node]
	if n == nil || taint.NeverEvicted(&p.Pod) != 0 {
		return d
	}
	if prediction.DeletedBy == "" {
		e.Builtin = n.estimate.builtin(&p.Pod, &verdict, by)
	}
	d.add(&prediction)
	for i := range n.Taints {
		t := m.explainTaint(p, n, &n.Taints[i], by)
		if t.Prediction != nil && t.Prediction.EvictedOrHeld() {
			d.unsure, d.asIfNow = d.unsure || t.SinceFrom == NotKnown, d.asIfNow || t.SinceFrom == FromPolicy
		}
		e.Taints = append(e.Taints, t)
	}
	e.Taints = append(e.Taints, m.explainDevices(p)...)
	return d
}

// explainTaint explains what one taint alone would do.
func (m *Model) explainTaint(p *pod, n *node, t *v1.Taint, by *rulesAt) ExplainedTaint {
	explained := ExplainedTaint{Taint: t.ToString()}
	toleration := m.matching(&p.Pod, t)
	if toleration != nil {
		explained.Toleration, explained.TolerationSeconds = unquoted(toleration), toleration.TolerationSeconds
	}
	latest, earliest := n.estimate.latest.state(t), n.estimate.earliest.state(t)
	if latest == nil {
		if why := m.rules.set.NamesOnlyNoExecute(t); why != "" {
			explained.Arithmetic = []string{why}
		}
		return explained
	}
	explained.Since, explained.SinceFrom = utc(latest.Since), n.estimate.from(t)
	if earliest.Since.Before(latest.Since) {
		explained.SinceEarliest = utc(earliest.Since)
	}
	only := n.estimate.onlyTaint(t)
	prediction, _ := only.predict(&p.Pod, by)
	explained.Prediction = &prediction
	bound := p.Bound.Add(-time.Second) // the API cuts off fractions of a second
	explained.Arithmetic = []string{n.since(t, &explained, bound)}
	if prediction.EvictedOrHeld() || prediction.Policy != "" {
		explained.Arithmetic = append(explained.Arithmetic, prediction.Reason)
	}
	near := nearMiss(&p.Pod, m.rules.judged(t), toleration, m.rules.config.Rules)
	if near != nil && prediction.Evict {
		explained.NearMiss = near
		explained.Arithmetic = append(explained.Arithmetic, near.words())
	}
	return explained
}

// matching returns the toleration that counts, or nil. If no toleration matches the judged form of the taint, one that
// matches the taint itself counts.
func (m *Model) matching(p *taint.Pod, t *v1.Taint) *v1.Toleration {
	if toleration := taint.Matching(p, m.rules.judged(t), m.rules.config.Rules); toleration != nil {
		return toleration
	}
	return taint.Matching(p, t, m.rules.config.Rules)
}

// since returns a sentence with the start of a taint and its source, for a pod that was bound at this time.
func (n *node) since(t *v1.Taint, e *ExplainedTaint, bound time.Time) string {
	since := taint.Stamp(*e.Since)
	switch e.SinceFrom {
	case FromJournal:
		return "the countdown started at " + since + ", by the journal"
	case FromPolicy:
		return "no journal entry, so the countdown starts now (" + since + ")"
	case FromTimeAdded:
		return "timeAdded (when the taint was set) is rounded down to whole seconds, so the countdown starts at the next second, " + since
	}
	unknown := "neither timeAdded nor the journal says when the taint was set"
	if !t.TimeAdded.IsZero() {
		unknown = "timeAdded (" + taint.Stamp(t.TimeAdded.Time) + ") is in the future or before the node was " +
			"created, and the journal does not say when the taint was set"
	}
	if e.SinceFrom == NotKnown {
		unknown += ". It was set between " + taint.Stamp(n.created) + " (node created) and " + since
		if bound.After(n.created) {
			unknown += "; the pod was assigned to the node at " + taint.Stamp(bound) +
				", so its countdown started then or later"
		}
		return unknown + n.lastWritten()
	}
	return unknown + ", so the countdown starts now (" + since + ")" + n.lastWritten()
}

// lastWritten says who last wrote the taints, and when, according to managedFields; "" if they don't say. The taint may
// have been set earlier, so no countdown starts at that time.
func (n *node) lastWritten() string {
	if n.written.IsZero() {
		return ""
	}
	return fmt.Sprintf("; managedFields: the taints were last written by %.60q at about %s", n.writer,
		n.written.UTC().Format("15:04"))
}

// stuckAfter is how long after the end of its grace period a pod that is being deleted counts as stuck.
const stuckAfter = 10 * time.Second

// stuck returns what keeps a pod that should be gone after its grace period, and what to inspect; "" if nothing does.
func (m *Model) stuck(p *pod, at time.Time) string {
	if p.ends == nil || at.Sub(*p.ends) <= stuckAfter {
		return ""
	}
	finalizers := slices.DeleteFunc(slices.Clone(p.finalizers), func(name string) bool {
		return name == batchv1.JobTrackingFinalizer && !p.finished() // the Job controller waits for the end of the pod
	})
	if len(finalizers) == 0 {
		return m.unconfirmed(p)
	}
	holds := "it has finalizers (" + strings.Join(finalizers, ", ") + "): check the controllers that remove them"
	if p.containers == running {
		holds += "; and " + m.unconfirmed(p)
	}
	return holds
}

// unconfirmed says why there is no confirmation that the pod has stopped, and what to inspect.
func (m *Model) unconfirmed(p *pod) string {
	n := m.nodes[p.Node]
	switch {
	case n == nil:
		return "its node does not exist: the pod garbage collector of kube-controller-manager deletes such pods"
	case hasKey(n.Taints, v1.TaintNodeOutOfService):
		return "its node has the taint node.kubernetes.io/out-of-service, by which the pod garbage collector of " +
			"kube-controller-manager removes the pod once the node is not ready: check that it runs"
	case slices.ContainsFunc(n.Taints, isManaged):
		return "the kubelet does not confirm that it has stopped: check the node; if it is certainly shut down, the taint " +
			"node.kubernetes.io/out-of-service releases the pod"
	case p.containers == stopped:
		return "its containers have stopped, and the kubelet still cleans up: check the kubelet's log for volumes that " +
			"it can't unmount"
	}
	return "the kubelet has not confirmed that it has stopped: check the kubelet's log and the pod's containers"
}

// isManaged reports whether the taint is not-ready or unreachable, which Kubernetes sets, removes and swaps itself.
func isManaged(t v1.Taint) bool {
	return taint.ReportsOutage(t.Key)
}
