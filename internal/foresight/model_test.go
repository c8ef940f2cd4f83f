package foresight_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// scheduled formats the pending evictions in a few words each.
func scheduled(p *foresight.Pending) []string {
	var list []string
	for _, one := range p.Pods {
		list = append(list, fmt.Sprintf("%s %s, %s by %s, in %v s", one.Name, told(&one.Prediction), one.State, one.SinceFrom, one.InSeconds))
	}
	return list
}

// A dump may lack the node's creation, too.
func TestATimeAddedOfZeroTellsNothing(t *testing.T) {
	n, p := node("n1", parsed("gpu:NoExecute")), pod("p", tolerates("gpu", 60))
	n.Spec.Taints[0].TimeAdded, n.CreationTimestamp = &metav1.Time{}, metav1.Time{}
	got := modelOf(foresight.Focus{}, n, p).Pending(noon, nil)
	bare := n.DeepCopy()
	bare.Spec.Taints[0].TimeAdded = nil
	if diff := cmp.Diff(scheduled(modelOf(foresight.Focus{}, bare, p).Pending(noon, nil)), scheduled(got)); diff != "" {
		t.Errorf("without a timeAdded (-) and with zero (+):\n%s", diff)
	}
}

func TestPendingTellsThePodsThatGoInTheOrderOfTime(t *testing.T) {
	o := modelOf(foresight.Focus{}, node("n1", timed("gpu:NoExecute", -100), parsed("disk:NoExecute")), node("n2", parsed("gpu:NoSchedule")),
		pod("later", tolerates("gpu", 300), tolerates("disk", -1)), pod("soon", tolerates("gpu", 120), tolerates("", -1)),
		pod("late", tolerates("disk", -1)), pod("unsure", tolerates("gpu", -1), tolerates("disk", 60)),
		pod("stays", tolerates("", -1)), pod("elsewhere", on("n2")), pod("lost", on("n3")), pod("going", deleted))
	want := []string{
		"late goes at -1m39s, due by timeAdded, in 0 s", "soon goes at 21s, scheduled by timeAdded, in 21 s",
		"unsure goes at -8h59m0s to 1m0s, scheduled by unknown, in 60 s", "later goes at 3m21s, scheduled by timeAdded, in 201 s",
	}
	pending := o.Pending(noon, nil)
	if diff := cmp.Diff(want, scheduled(pending)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !noted(pending.Notes, "it is unknown when their taints were set") || !noted(pending.Notes, "1 pod should have been evicted by now") || *pending.TaintedNodes != 1 {
		t.Errorf("%d nodes are tainted, notes: %q", *pending.TaintedNodes, pending.Notes)
	}
	if got := o.Pending(noon, []string{"n2", "n3"}); len(got.Pods) != 0 || got.Pods == nil {
		t.Errorf("on other nodes: %v", got.Pods)
	}
}

// nobody is a reconciler that ignores changes.
type nobody struct{}

func (nobody) NodeChanged(string)                      {}
func (nobody) PodChanged(types.UID, string)            {}
func (nobody) NodesChanged([]breaker.NodeChange, bool) {}
func (nobody) RecordChanged(string)                    {}
func (nobody) NamespacesChanged()                      {}

// lag is how much later than the manager a model observes changes of nodes.
const lag = 300 * time.Millisecond

// shown is a changing cluster, which a manager observes from the beginning, and a model from some time on.
type shown struct {
	*rapid.T
	now     time.Time
	version int
	node    *v1.Node
	pods    map[string]*v1.Pod
	manager *cluster.Feed
	model   *foresight.Model // nil before it begins
	journal bool             // the model reads it
}

func newShown(t *rapid.T) *shown {
	s := &shown{T: t, now: noon, node: node("n1"), pods: map[string]*v1.Pod{}}
	s.manager = cluster.NewFeed(taint.Rules{}, nobody{}, func() time.Time { return s.now })
	s.must(s.manager.Nodes().Replace([]any{s.node.DeepCopy()}, ""))
	s.must(s.manager.Pods().Replace(nil, ""))
	return s
}

func (s *shown) must(err error) {
	if err != nil {
		s.Fatal(err)
	}
}

// step makes a change: of taints, without a time as kubectl sets them, or of pods.
func (s *shown) step() {
	s.now = s.now.Add(time.Duration(rapid.IntRange(1, 100_000).Draw(s.T, "milliseconds")) * time.Millisecond)
	if rapid.Bool().Draw(s.T, "a pod") {
		s.changePod(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(s.T, "which"))
		return
	}
	s.version++
	s.node.ResourceVersion = strconv.Itoa(s.version)
	s.node.Spec.Taints = rapid.SliceOfNDistinct(rapid.Custom(drawTaint), 0, 3, identity).Draw(s.T, "taints")
	for i := range s.node.Spec.Taints {
		s.node.Spec.Taints[i].TimeAdded = nil
	}
	s.must(s.manager.Nodes().Update(s.node.DeepCopy()))
	if s.model != nil {
		if s.journal && rapid.Bool().Draw(s.T, "the journal is faster") {
			s.record()
		}
		if rapid.Bool().Draw(s.T, "by a list") {
			s.model.Replace("nodes", []any{s.node.DeepCopy()}, s.now.Add(lag))
		} else {
			s.model.Update(s.node.DeepCopy(), s.now.Add(lag))
		}
	}
}

// changePod edits the pod's tolerations, deletes it, or creates one of another UID, which is bound now.
func (s *shown) changePod(name string) {
	if old := s.pods[name]; old != nil && s.model != nil && rapid.Bool().Draw(s.T, "edit") {
		edited := old.DeepCopy()
		tolerates("a", rapid.Int64Range(0, 100).Draw(s.T, "seconds"))(edited)
		s.pods[name] = edited
		s.must(s.manager.Pods().Update(edited))
		s.model.Update(edited, s.now)
		return
	}
	if old := s.pods[name]; old != nil {
		delete(s.pods, name)
		s.must(s.manager.Pods().Delete(old))
		if s.model != nil && rapid.Bool().Draw(s.T, "by a list") {
			var list []any
			for _, p := range s.pods {
				list = append(list, p)
			}
			s.model.Replace("pods", list, s.now)
		} else if s.model != nil {
			s.model.Remove(old)
		}
		return
	}
	p := pod(name)
	s.version++
	p.UID = types.UID(fmt.Sprintf("%s-%d", name, s.version))
	for range rapid.IntRange(0, 3).Draw(s.T, "tolerations") {
		tolerates(rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(s.T, "key"), rapid.Int64Range(-1, 100).Draw(s.T, "seconds"))(p)
	}
	s.pods[name] = p
	s.must(s.manager.Pods().Add(p))
	if s.model != nil {
		s.model.Update(p, s.now)
	}
}

// begin lets the model observe the cluster. As far as it knows, the pods were bound long ago.
func (s *shown) begin() {
	b := foresight.NewBuilder(foresight.Ruleset{}, foresight.Focus{})
	b.Add(s.node.DeepCopy())
	for _, p := range s.pods {
		b.Add(p)
	}
	model, err := b.Load(foresight.Reading{}, foresight.Moment{At: s.now})
	s.must(err)
	s.model = model
}

// record passes the manager's journal to the model.
func (s *shown) record() {
	if n, _ := s.manager.PodsOn("n1"); n.Tainted() {
		number := journal.PartitionOf("n1")
		data, _ := journal.Encode(journal.Partition{
			Heartbeat: journal.Heartbeat{Written: s.now, LastWatch: journal.LastWatch{Watched: s.now, Reached: s.manager.LastWatch().Reached}},
			Records:   s.manager.Records(number),
		})
		read := foresight.NewJournal("", "", "")
		read.Add(number, journal.StoredPartition{Version: "1", Data: data}, nil)
		s.model.UpdateJournal(read, s.now)
	}
}

// deadlines returns the manager's deadlines, by UID.
func (s *shown) deadlines() map[string]time.Time {
	deadlines := map[string]time.Time{}
	for _, p := range s.pods {
		known, n := s.manager.Pod(p.UID)
		if v := taint.Decide(known, n, taint.Rules{}); v.Evict {
			deadlines[string(p.UID)] = v.At
		}
	}
	return deadlines
}

// A model that watches and reads the journal has the manager's deadlines, later by no more than it watches later.
func TestWhoWatchesAndReadsTheJournalHasTheManagersDeadlines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newShown(t)
		for range rapid.IntRange(0, 5).Draw(t, "before") {
			s.step()
		}
		for name := range s.pods { // so that all are bound while it watches
			s.changePod(name)
		}
		s.begin()
		s.journal = true
		s.record()
		for range rapid.IntRange(1, 15).Draw(t, "after") {
			s.step()
			if rapid.Bool().Draw(t, "the journal follows") {
				s.record()
			}
			s.agree()
		}
	})
}

// agree requires the model to have the manager's deadlines.
func (s *shown) agree() {
	want, told := s.deadlines(), s.model.Pending(s.now, nil).Pods
	if len(want) != len(told) {
		s.Fatalf("the manager has %v, the model %v", want, told)
	}
	for _, p := range told {
		off := p.At.Sub(want[p.UID])
		if p.Earliest != nil || p.SinceFrom != foresight.FromJournal && p.SinceFrom != foresight.FromSight || off < 0 || off > lag {
			s.Fatalf("%s: %s by %s, and by the manager at %v", p.Name, p.At, p.SinceFrom, want[p.UID])
		}
	}
}

// A model that can't read the journal has a range that contains the manager's deadline.
func TestWithoutTheJournalTheManagersDeadlineIsWithinTheRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newShown(t)
		for range rapid.IntRange(0, 15).Draw(t, "before") {
			s.step()
		}
		for name := range s.pods {
			s.changePod(name)
		}
		s.begin()
		for range rapid.IntRange(1, 10).Draw(t, "after") {
			s.step()
			told := map[string]*foresight.PendingPod{}
			for _, p := range s.model.Pending(s.now, nil).Pods {
				told[p.UID] = p
			}
			for uid, deadline := range s.deadlines() {
				p, ok := told[uid]
				early := p.At
				if p.Earliest != nil {
					early = p.Earliest
				}
				if !ok || deadline.Before(early.Add(-lag)) || deadline.After(*p.At) {
					t.Fatalf("%s goes at %v, and it is told %v", uid, deadline, p)
				}
			}
		}
	})
}
