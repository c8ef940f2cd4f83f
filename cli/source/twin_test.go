package source

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/policy"
)

// The twin of pending is a manager that begins to lead at the moment of the question, with the journal that another
// manager has written: the same pods go or are held, with the same deadlines, and the same breakers are tripped.
func TestPendingSaysWhatAManagerSaysThatReadsTheSameJournal(t *testing.T) {
	seen := map[string]int{}
	seeds := uint64(60)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			w := newTwins(t, seed)
			w.live()
			w.compare(seen)
		})
	}
	for _, what := range []string{"journal", "policy", "held", "trips, recorded: true", "trips of other breakers", "deleteAt"} {
		if seen[what] < 1 {
			t.Errorf("%s: it never happened", what)
		}
	}
}

// twins are a cluster, and a manager that keeps its journal in memory.
type twins struct {
	t       *testing.T
	seed    uint64
	random  *rand.Rand
	client  *fake.Clientset
	journal *memory
	version int
}

const (
	twinNodes = 6
	twinSteps = 8
)

func newTwins(t *testing.T, seed uint64) *twins {
	w := &twins{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), client: fake.NewClientset(), journal: &memory{}}
	made := metav1.NewTime(time.Now().Add(-time.Hour))
	for i := range twinNodes {
		name := fmt.Sprintf("n%d", i)
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), CreationTimestamp: made, ResourceVersion: "1", Labels: map[string]string{"zone": []string{"a", "b"}[i%2]},
		}}
		pods := []*v1.Pod{twinPod(node, "bare", made), twinPod(node, "patient", made, v1.Toleration{Operator: v1.TolerationOpExists, TolerationSeconds: new(int64(300))})}
		for _, pod := range pods {
			w.must(w.client.Tracker().Add(pod))
		}
		w.must(w.client.Tracker().Add(node))
	}
	return w
}

func twinPod(node *v1.Node, kind string, made metav1.Time, tolerations ...v1.Toleration) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: kind + "-" + node.Name, UID: types.UID(kind + "-" + node.Name), CreationTimestamp: made, ResourceVersion: "1",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: kind, UID: "rs", Controller: new(true)}},
		},
		Spec: v1.PodSpec{NodeName: node.Name, Tolerations: tolerations},
		Status: v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{
			{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: made},
		}},
	}
}

func (tw *twins) must(err error) {
	tw.t.Helper()
	if err != nil {
		tw.t.Fatal(err)
	}
}

// draws returns policies that name some keys, and perhaps a breaker.
func (tw *twins) draws() taintmanager.Policies {
	lasting := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	var p taintmanager.Policies
	for _, key := range []string{"maintenance", "reboot"} {
		if tw.random.IntN(3) > 0 {
			p.Policies = append(p.Policies, policy.Policy{
				Name: key, Method: policy.Evict, DeleteAfter: lasting(time.Hour), Match: policy.Match{Taints: []policy.Taint{{Key: key, Effects: []v1.TaintEffect{v1.TaintEffectNoSchedule}}}},
				Tolerations: &policy.Tolerations{Absent: lasting(10 * time.Minute)},
			})
		}
	}
	if tw.random.IntN(3) > 0 {
		p.Policies = append(p.Policies, policy.Policy{Name: "gpu", Method: policy.Evict, DeleteAfter: lasting(time.Hour), Match: policy.Match{Taints: []policy.Taint{{Key: "gpu"}}}})
	}
	if tw.random.IntN(4) == 0 {
		p.Policies = append([]policy.Policy{{Name: "quarantine", Method: policy.Hold, Match: policy.Match{Taints: []policy.Taint{{Key: "gpu"}}}}}, p.Policies...)
	}
	if tw.random.IntN(4) > 0 {
		p.Guards.Breakers = []policy.Breaker{{Name: "outage", TopologyKey: "zone", Taints: []policy.TaintKey{{Key: "out"}}, MaxNodes: intstr.FromString("50%"), ResetAfter: lasting(time.Minute)}}
	}
	p.Guards.Rates = []policy.Rate{{Name: "none", EvictionsPerSecond: 0.001, Burst: 1}} // its bucket begins empty, so no call starts
	p.Paused = tw.random.IntN(5) == 0
	return p
}

// live lets a manager lead for some time, in which nodes and policies change. Some of them also change when it is gone.
func (tw *twins) live() {
	p := tw.draws()
	m, stop := tw.manager(p)
	for range twinSteps {
		tw.paint()
		time.Sleep(time.Duration(tw.random.IntN(50_000)) * time.Millisecond)
		switch tw.random.IntN(6) {
		case 0:
			p = tw.draws()
		case 1:
			p.Paused = !p.Paused
		}
		_, err := m.SetPolicies(tw.t.Context(), p)
		tw.must(err)
	}
	time.Sleep(2 * time.Second) // a writing a second
	stop()
	time.Sleep(time.Duration(tw.random.IntN(100_000)) * time.Millisecond)
	for range tw.random.IntN(3) {
		tw.paint()
	}
	if tw.random.IntN(2) == 0 {
		p = tw.draws()
	}
	tw.journal.policies = p
}

// paint sets or removes a taint of a node.
func (tw *twins) paint() {
	name := fmt.Sprintf("n%d", tw.random.IntN(twinNodes))
	node, err := tw.client.CoreV1().Nodes().Get(tw.t.Context(), name, metav1.GetOptions{})
	tw.must(err)
	node = node.DeepCopy()
	t := []v1.Taint{
		{Key: "maintenance", Effect: v1.TaintEffectNoSchedule},
		{Key: "reboot", Value: "a", Effect: v1.TaintEffectNoSchedule},
		{Key: "reboot", Value: "b", Effect: v1.TaintEffectNoSchedule},
		{Key: "gpu", Effect: v1.TaintEffectNoExecute},
		{Key: "out", Effect: v1.TaintEffectNoExecute},
		{Key: "out", Effect: v1.TaintEffectNoExecute},
	}[tw.random.IntN(6)]
	if tw.random.IntN(2) == 0 {
		t.TimeAdded = new(metav1.Now())
	}
	kept := node.Spec.Taints[:0]
	had := false
	for _, other := range node.Spec.Taints {
		had = had || other.Key == t.Key && other.Value == t.Value
		if other.Key != t.Key {
			kept = append(kept, other)
		}
	}
	if !had {
		kept = append(kept, t)
	}
	node.Spec.Taints = kept
	tw.version++
	node.ResourceVersion = strconv.Itoa(10 + tw.version)
	_, err = tw.client.CoreV1().Nodes().Update(tw.t.Context(), node, metav1.UpdateOptions{})
	tw.must(err)
	synctest.Wait()
}

// stuck is an evictor whose calls end with their context.
type stuck struct{}

func (stuck) Evict(ctx context.Context, _ taintmanager.Eviction) taintmanager.Outcome {
	<-ctx.Done()
	return taintmanager.Outcome{}
}

// manager starts a manager that leads; stop ends it.
func (tw *twins) manager(p taintmanager.Policies) (m *taintmanager.Manager, stop func()) {
	m, err := taintmanager.New(tw.client, nil, taintmanager.Options{
		Evictor: stuck{}, Journal: tw.journal, Policies: p.Policies, Guards: p.Guards, Paused: p.Paused, Logger: funcr.New(func(string, string) {}, funcr.Options{}),
	})
	tw.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { tw.must(m.Run(ctx)) })
	running.Go(func() { _ = m.Lead(ctx) })
	synctest.Wait()
	return m, func() { cancel(); running.Wait() }
}

// compare asks pending, and a manager that starts at the same moment.
func (tw *twins) compare(seen map[string]int) {
	p := tw.journal.policies
	settings := config.Default()
	settings.Policies, settings.Guards = p.Policies, p.Guards
	settings.Paused = p.Paused
	rules, err := rulesOf(settings)
	tw.must(err)
	for number, page := range tw.journal.stored {
		tw.must(tw.client.Tracker().Add(&v1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: usual.namespace, Name: store.Names(usual.name())[number], ResourceVersion: "1"}, Data: page.Data,
		}))
	}
	from := Cluster{client: tw.client, now: time.Now, location: usual}
	model, err := Load(tw.t.Context(), from, &Scope{Rules: rules, Focus: foresight.Focus{Nodes: &foresight.Selection{}}, Scheduled: true})
	tw.must(err)
	pending := model.Pending(model.At(), nil)

	m, stop := tw.manager(p)
	defer stop()
	views, err := m.Views(tw.t.Context())
	tw.must(err)
	want, got := map[string]string{}, map[string]string{}
	for i := range views {
		v := &views[i]
		want[v.Pod.Name] = verdict{held: v.State == eviction.StateHeld, at: v.Verdict.At, deleteAt: v.DeleteAt, policy: v.Policy}.told(model.At())
	}
	for _, one := range pending.Pods {
		got[one.Name] = verdictOf(one).told(model.At())
		seen[one.SinceFrom]++
		seen[string(one.State)]++
		if one.DeleteAt != nil {
			seen["deleteAt"]++
		}
	}
	for _, t := range m.Trips() {
		want["trip of "+t.Breaker+t.Group] = t.Began.UTC().String()
	}
	for _, t := range pending.Trips {
		if t.Reset == "" {
			seen["trips of other breakers"]++
			continue // the manager does not have this breaker
		}
		got["trip of "+t.Breaker+t.Group] = t.Since.String()
		seen[fmt.Sprint("trips, recorded: ", t.Recorded)]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		tw.t.Errorf("seed %d: the manager says (-), and pending (+):\n%s", tw.seed, diff)
	}
}

// verdict is what pending and a manager report about a pod.
type verdict struct {
	held         bool
	at, deleteAt time.Time
	policy       string
}

func verdictOf(p *foresight.PendingPod) verdict {
	v := verdict{held: !p.Evict, at: *p.At, policy: p.Policy}
	if p.DeleteAt != nil {
		v.deleteAt = *p.DeleteAt
	}
	return v
}

func (v verdict) told(now time.Time) string {
	if v.deleteAt.Equal(v.at) {
		v.deleteAt = time.Time{} // it is deleted, and not evicted before
	}
	if !v.deleteAt.IsZero() && !v.deleteAt.After(now) { // a manager tells only of the next call
		return fmt.Sprintf("to be deleted since %v", v.deleteAt.UTC().Round(0))
	}
	return fmt.Sprintf("held %t at %v, deleted at %v by %q", v.held, v.at.UTC().Round(0), v.deleteAt.UTC().Round(0), v.policy)
}

// memory is a journal in memory.
type memory struct {
	mu       sync.Mutex
	stored   [journal.StateObject + 1]taintmanager.StoredPartition
	writes   int
	policies taintmanager.Policies
}

func (m *memory) Read(_ context.Context, number int) (taintmanager.StoredPartition, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stored[number], nil
}

func (m *memory) Write(_ context.Context, number int, content taintmanager.StoredPartition) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stored[number].Version != content.Version {
		return "", errors.New("it has changed")
	}
	m.writes++
	content.Version = strconv.Itoa(m.writes)
	m.stored[number] = content
	return content.Version, nil
}
