package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// Unforeseen is the promise of "pending" and "plan": what they say happens, unless somebody changes something.
const Unforeseen = "what is foretold happens"

// forecast is an answer of "pending" or "plan".
type forecast struct {
	asked time.Duration
	node  string                              // of the plan; "" for all
	pods  map[types.UID]*foresight.Prediction // of the pods that are to be evicted, or are held

	// found are the nodes with taints that the writer of the record has found in a list. A leader that has listed the
	// nodes before may know that they are older.
	found map[string]bool

	resets map[string]time.Duration // of tripped breakers, by their names for a held pod
}

// foretell asks "pending" now or, about a change of a node's taints that happens now, "plan". It returns nil if the
// journal does not show what the leader knows.
func (w *World) foretell() *forecast {
	if w.err != nil || w.excused || !w.clocksAgree() || !w.journalIsCurrent() {
		return nil
	}
	now := w.server.at(w.now())
	m, err := w.model(foresight.Reading{At: now, From: "the world", Journal: w.journalAt(now), AsRunning: true})
	if w.check(err); err != nil {
		return nil
	}
	f := &forecast{
		asked: w.now(), pods: map[types.UID]*foresight.Prediction{},
		found: map[string]bool{}, resets: map[string]time.Duration{},
	}
	for node, r := range w.server.records() {
		isFound := func(s journal.TaintState) bool { return s.Found }
		f.found[node] = slices.ContainsFunc(slices.Concat(r.Taints...), isFound)
	}
	d := drawer{r: w.rand(29), plan: w.plan}
	t, node := d.taint(), nodeName(d.r.IntN(w.plan.nodes))
	// Of a taint whose value has changed more than eight times, a plan forgets other states than a manager may forget.
	if t.Value == "" && w.server.node(node) != nil && d.r.IntN(2) == 0 {
		err = f.plan(w, m, node, foresight.Change{Taint: t, Remove: d.r.IntN(3) == 0})
	} else {
		err = f.pending(w, m)
	}
	w.check(err)
	return f
}

// pending asks what is scheduled.
func (f *forecast) pending(w *World, m *foresight.Model) error {
	answer := m.Pending(m.At(), nil)
	for _, p := range answer.Pods {
		f.pods[types.UID(p.UID)] = &p.Prediction
	}
	f.takeIn(w, answer.Trips)
	if w.now()-w.server.objects[journal.StateObject].written < time.Minute && answer.By != "" {
		return oracle.Broken(Unforeseen, "a manager runs by the default rules, but they are those %s", answer.By)
	}
	return nil
}

// takeIn notes when tripped breakers reset.
func (f *forecast) takeIn(w *World, trips []foresight.Trip) {
	for _, t := range trips {
		if t.ResetsBy == nil {
			continue
		}
		by := policy.Held{By: policy.HeldByBreaker, Name: t.Breaker, Group: t.Group}
		f.resets[by.String()] = t.ResetsBy.Sub(w.server.at(0))
	}
}

// plan asks what a change of a node's taints does, and makes the change.
func (f *forecast) plan(w *World, m *foresight.Model, node string, c foresight.Change) error {
	is := func(t v1.Taint) bool { return t.MatchTaint(&c.Taint) }
	c.Remove = c.Remove && slices.ContainsFunc(w.server.node(node).Spec.Taints, is)
	answer, err := m.Plan(foresight.Question{
		Selection: foresight.Selection{Names: []string{node}}, Changes: []foresight.Change{c}, At: m.At(),
	})
	if err != nil {
		return fmt.Errorf("a plan: %w", err)
	}
	for _, p := range answer.Pods {
		if p.EvictedOrHeld() {
			f.pods[types.UID(p.UID)] = &p.Prediction
		}
	}
	f.node = node
	f.takeIn(w, answer.Trips)
	w.counts["Planned"]++
	w.say("world", "changes node %s as planned: %v", node, c)
	w.server.changeTaints(node, func(list []v1.Taint) []v1.Taint {
		if c.Remove {
			return slices.DeleteFunc(list, is)
		}
		return with(list, c.Taint)
	})
	return nil
}

// clocksAgree reports whether the clocks of all processes and API servers have always agreed: the journal's times are
// later than the true ones after a clock was ahead.
func (w *World) clocksAgree() bool {
	ahead := func(by time.Duration) bool { return by > w.plan.serverAhead }
	set := func(a action) bool { return a.kind == setClock }
	return w.plan.apart == 0 && !slices.ContainsFunc(w.plan.ahead, ahead) && !slices.ContainsFunc(w.plan.actions, set)
}

// journalIsCurrent reports whether a leader with the latest file has recorded the taints of all nodes.
func (w *World) journalIsCurrent() bool {
	recorded := w.server.records()
	for _, n := range w.server.nodes {
		r := recorded[n.Name]
		if len(n.Spec.Taints) > 0 && (r.UID != n.UID || journal.IsNewer(w.server.taintedAt(n), r.Version)) {
			return false
		}
	}
	return slices.ContainsFunc(w.up(), func(p *process) bool {
		return p.leading() && p.keeper.began && p.governance.file == len(w.plan.files)-1 && p.governance.listing == 0
	})
}

// records returns the records of the journal that can be read and are not forged, by node.
func (s *server) records() map[string]journal.Record {
	all := map[string]journal.Record{}
	for i, o := range s.objects[:journal.StateObject] {
		if content, _, err := journal.Decode(i, o.Data); err == nil && !o.forged {
			maps.Copy(all, content.Records)
		}
	}
	return all
}

// taintedAt returns the resourceVersion at which the taints of a node last changed.
func (s *server) taintedAt(n *v1.Node) (version string) {
	var taints []v1.Taint
	for _, e := range s.log {
		if e.node != nil && e.node.UID == n.UID && !equality.Semantic.DeepEqual(taints, e.node.Spec.Taints) {
			version, taints = strconv.Itoa(e.version), e.node.Spec.Taints
		}
	}
	return version
}

// model returns the model of what is on the server, by the rules of the latest file.
func (w *World) model(r foresight.Reading) (*foresight.Model, error) {
	config := w.plan.files[len(w.plan.files)-1].config
	rules, err := foresight.NewRuleset(config.Config, config.Paused)
	if err != nil {
		return nil, fmt.Errorf("the rules of a forecast: %w", err)
	}
	rules.Running = r.Journal.Config()
	b := foresight.NewBuilder(rules, foresight.Focus{})
	for _, n := range w.server.nodes {
		b.Add(n)
	}
	for _, p := range w.server.pods {
		b.Add(p)
	}
	m, err := b.Load(r, foresight.Moment{At: r.At})
	if err != nil {
		return nil, fmt.Errorf("a forecast: %w", err)
	}
	return m, nil
}

// journalAt returns the lease and the journal, as a command reads them. The holder renews the lease by its own clock.
func (w *World) journalAt(now time.Time) *foresight.Journal {
	j := foresight.NewJournal("the journal", "its state", "a command")
	j.Now, j.Read = now, now
	lease := w.server.lease
	renewed := w.server.at(lease.renewed)
	for i, p := range w.processes {
		if p != nil && p.name == lease.holder {
			renewed = epoch().Add(lease.renewed + w.clocks[i])
		}
	}
	j.Lease = foresight.Lease{Spec: &coordinationv1.LeaseSpec{
		HolderIdentity: &lease.holder, LeaseDurationSeconds: new(int32(leaseDuration / time.Second)),
		RenewTime: new(metav1.NewMicroTime(renewed)),
	}}
	for i, o := range w.server.objects {
		j.Add(i, o.StoredPartition, nil)
	}
	return j
}

// How much earlier, and how much later, than foretold a pod may go. A call that fails, or that nobody answers, is
// repeated.
const (
	precision = 3 * time.Second
	delay     = time.Minute
)

// judge requires that what was foretold has happened until now. Requests that were sent before do not count.
func (f *forecast) judge(w *World) error {
	limited := slices.ContainsFunc(w.plan.files, func(f file) bool { return len(f.config.Guards.Rates) > 0 })
	for _, uid := range slices.Sorted(maps.Keys(f.pods)) {
		p := f.pods[uid]
		went, gone := w.deleted[uid]
		if gone && went <= f.asked {
			continue
		}
		w.counts["Foretold"]++
		latest := p.Deadline().Sub(w.server.at(0))
		earliest := latest
		if p.HeldDeadline != nil { // a breaker that holds the pod may reset
			earliest = min(earliest, p.HeldDeadline.Sub(w.server.at(0)))
		}
		reset, resets := f.resets[p.HeldBy]
		goes := p.Evict || resets
		due := max(min(latest, w.now()), reset, f.asked) + delay
		switch {
		case p.Earliest != nil:
			return f.broken(uid, "goes at an unknown time, although the journal is current: %+v", *p)
		case gone && went < earliest-precision && !f.found[w.nodeOf(uid)]:
			return f.broken(uid, "goes at %v, before %v: %+v", went-preface, earliest-preface, *p)
		case goes && !limited && (gone && went > due || !gone && w.now() > due):
			return f.broken(uid, "had not gone by %v: %+v", due-preface, *p)
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(w.deleted)) {
		ofNode := f.node == "" || f.node == w.nodeOf(uid)
		if went := w.deleted[uid]; went > f.asked && f.pods[uid] == nil && ofNode {
			return f.broken(uid, "goes at %v, and was not named", went-preface)
		}
	}
	return nil
}

// nodeOf returns the node of a pod, even if it is gone.
func (w *World) nodeOf(uid types.UID) string {
	for _, e := range slices.Backward(w.server.log) {
		if e.pod != nil && e.pod.UID == uid {
			return e.pod.Spec.NodeName
		}
	}
	return ""
}

func (f *forecast) broken(uid types.UID, format string, args ...any) error {
	args = slices.Concat([]any{f.asked - preface, uid}, args)
	return oracle.Broken(Unforeseen, "asked at %v: pod %s "+format, args...)
}
