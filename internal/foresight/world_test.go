package foresight_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// noon is the time of all questions; times in the tests are seconds from it.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time {
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

// hoursAgo returns a time before noon, at which nodes and pods were created.
func hoursAgo(hours int) metav1.Time {
	return metav1.NewTime(noon.Add(-time.Duration(hours) * time.Hour))
}

// parsed returns the taint "key=value:effect".
func parsed(s string) v1.Taint {
	keyAndValue, effect, _ := strings.Cut(s, ":")
	key, value, _ := strings.Cut(keyAndValue, "=")
	return v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(effect)}
}

// timed returns the taint with a timeAdded.
func timed(s string, seconds float64) v1.Taint {
	t, added := parsed(s), metav1.NewTime(at(seconds))
	t.TimeAdded = &added
	return t
}

func node(name string, taints ...v1.Taint) *v1.Node {
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("uid-" + name), CreationTimestamp: hoursAgo(10), Labels: map[string]string{"name": name},
		},
		Spec: v1.NodeSpec{Taints: taints},
	}
}

// pod returns a running pod in the namespace shop, on node n1, bound nine hours ago.
func pod(name string, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: hoursAgo(9)},
		Spec:       v1.PodSpec{NodeName: "n1"},
		Status: v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{
			{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: hoursAgo(9)},
			{Type: v1.PodReady, Status: v1.ConditionTrue},
		}},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

// tolerates adds a toleration; negative seconds mean no limit.
func tolerates(key string, seconds int64) func(*v1.Pod) {
	return func(p *v1.Pod) {
		toleration := v1.Toleration{Key: key, Operator: v1.TolerationOpExists, TolerationSeconds: &seconds}
		if seconds < 0 {
			toleration.TolerationSeconds = nil
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, toleration)
	}
}

func on(node string) func(*v1.Pod) { return func(p *v1.Pod) { p.Spec.NodeName = node } }

func in(phase v1.PodPhase) func(*v1.Pod) { return func(p *v1.Pod) { p.Status.Phase = phase } }

func labelled(key, value string) func(*v1.Pod) {
	return func(p *v1.Pod) { metav1.SetMetaDataLabel(&p.ObjectMeta, key, value) }
}

func unready(p *v1.Pod) { p.Status.Conditions[1].Status = v1.ConditionFalse }

func deleted(p *v1.Pod) { t := hoursAgo(0); p.DeletionTimestamp = &t }

// ownedBy sets the owner "Kind/name".
func ownedBy(owner string) func(*v1.Pod) {
	kind, name, _ := strings.Cut(owner, "/")
	yes := true
	return func(p *v1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, Controller: &yes}}
	}
}

// budget returns a budget for the pods of shop with the label app=NAME that admits this number of evictions.
func budget(name string, admits int32, change ...func(*policyv1.PodDisruptionBudget)) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: admits},
	}
	for _, c := range change {
		c(b)
	}
	return b
}

// ask returns the question about the effect of these taints on n1.
func ask(taints ...string) foresight.Question {
	q := foresight.Question{Selection: foresight.Selection{Names: []string{"n1"}}, At: noon}
	for _, s := range taints {
		q.Changes = append(q.Changes, must(foresight.ParseChange(s)))
	}
	return q
}

// must returns the value. There is no error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// modelOf returns a model of the objects, observed at noon.
func modelOf(focus foresight.Focus, objects ...any) *foresight.Model {
	return judgedBy(foresight.Ruleset{}, focus, objects...)
}

// judgedBy returns a model that judges by the rules.
func judgedBy(by foresight.Ruleset, focus foresight.Focus, objects ...any) *foresight.Model {
	return must(load(by, focus, foresight.Reading{}, objects...))
}

// load returns a model for noon of the objects, read in this way. Partitions among them are those of the journal.
func load(by foresight.Ruleset, focus foresight.Focus, r foresight.Reading, objects ...any) (*foresight.Model, error) {
	return loadFor(foresight.Moment{At: noon}, by, focus, r, objects...)
}

// loadFor returns a model for questions about that time.
func loadFor(q foresight.Moment, by foresight.Ruleset, focus foresight.Focus, r foresight.Reading, objects ...any) (*foresight.Model, error) {
	b, pages, state := foresight.NewBuilder(by, focus), map[int]journal.Partition{}, state{written: at(-5)}
	for _, o := range objects {
		switch o := o.(type) {
		case partition:
			addPage(pages, o.Partition)
			if state.guards == nil {
				state.written = o.Written
			}
		case guards:
			state.guards, state.written = o.record, o.written
			pages[0] = journal.Partition{Records: pages[0].Records}
		default:
			b.Add(o)
		}
	}
	if r.Journal == nil && len(pages) > 0 {
		r.Journal = foresight.NewJournal("the journal", "the state", "")
		r.Journal.Now = noon
		r.Journal.Add(journal.StateObject, state.stored(), nil)
	}
	for number, p := range pages {
		r.Journal.Add(number, stored(p), nil)
	}
	return b.Load(r, q)
}

// partition is a partition of the journal, and guards a record of guards and holds.
type (
	partition struct{ journal.Partition }
	guards    struct {
		record  *breaker.Record
		written time.Time
	}
)

// state is the state of the journal.
type state struct {
	written time.Time
	guards  *breaker.Record
}

// stored returns the state as a manager has written it.
func (s state) stored() journal.StoredPartition {
	var text []byte
	if s.guards != nil {
		text, _ = json.Marshal(s.guards)
	}
	beat := journal.Heartbeat{Written: s.written, LastWatch: journal.LastWatch{Watched: s.written}}
	return journal.StoredPartition{Version: "1", Data: journal.EncodeState(beat, text, nil)}
}

// addPage adds a partition that has the records of some nodes of one partition.
func addPage(pages map[int]journal.Partition, p journal.Partition) {
	number := 0
	for name := range p.Records {
		number = journal.PartitionOf(name)
	}
	if before, ok := pages[number]; ok && before.Records != nil {
		maps.Copy(before.Records, p.Records)
		p = before
	}
	pages[number] = p
}

// stored returns the partition as a manager has written it.
func stored(p journal.Partition) journal.StoredPartition {
	at := journal.StoredPartition{Version: "1"}
	at.Data, _ = journal.Encode(p)
	return at
}

// explained explains the pod shop/a.
func explained(m *foresight.Model, when time.Time) *foresight.Explanation {
	return must(m.Explain("shop", "a", when))
}

// planned returns the plan of a model that keeps only what the question needs.
func planned(q foresight.Question, objects ...any) (*foresight.Plan, error) {
	m, err := load(foresight.Ruleset{}, foresight.Focus{Nodes: &q.Selection}, foresight.Reading{}, objects...)
	if err != nil {
		return nil, err
	}
	return m.Plan(q)
}

func plan(q foresight.Question, objects ...any) *foresight.Plan { return must(planned(q, objects...)) }

// recorded returns a partition of the journal with the record of n1, which was written at this number of seconds from
// noon.
func recorded(uid string, written float64, taints ...taint.History) partition {
	return recordedOf("n1", uid, written, taints...)
}

// recordedOf returns a partition of the journal with the record of a node.
func recordedOf(name, uid string, written float64, taints ...taint.History) partition {
	r := journal.Record{UID: types.UID(uid)}
	for _, history := range taints {
		var states []journal.TaintState
		for _, s := range history {
			states = append(states, journal.TaintState{Taint: s.Taint, Ended: s.Ended, Start: s.Since})
		}
		r.Taints = append(r.Taints, states)
	}
	return partition{journal.Partition{
		Heartbeat: journal.Heartbeat{Written: at(written), LastWatch: journal.LastWatch{Watched: at(written)}},
		Records:   map[string]journal.Record{name: r},
	}}
}

// holding returns the record of guards and holds of the journal.
func holding(r *breaker.Record) guards { return guards{r, at(-5)} }

// noted reports whether one of the notes has this part.
func noted(notes []string, part string) bool {
	return strings.Contains(strings.Join(notes, "\n"), part)
}

// foretold formats what explain says about the pod shop/a, and requires pending to say the same: "stays", "goes at
// 30s", "goes at 30s, deleted at 1h0m30s", "held by policy x".
func foretold(t *testing.T, m *foresight.Model, when time.Time) string {
	t.Helper()
	e, pending := explained(m, when), m.Pending(when, nil)
	words := told(e.Prediction)
	if e.Prediction.HeldBy != "" {
		words = "held by " + e.Prediction.HeldBy
	}
	if e.Prediction.DeleteAt != nil {
		words += ", deleted at " + e.Prediction.DeleteAt.Sub(noon).String()
	}
	listed := slices.IndexFunc(pending.Pods, func(p *foresight.PendingPod) bool { return p.Name == "a" })
	if held := listed >= 0 && pending.Pods[listed].State == eviction.StateHeld; (listed >= 0) == (words == "stays") ||
		held != (e.Prediction.HeldBy != "") {
		t.Errorf("explain says that it %s, and pending has %+v", words, pending.Pods)
	}
	if diff := gocmp.Diff(e.Trips, pending.Trips); diff != "" {
		t.Errorf("the trips of explain (-) and of pending (+):\n%s", diff)
	}
	return words
}

// told formats a prediction in a few words: "stays", "goes at 30", "goes at 10 to 30".
func told(f *foresight.Prediction) string {
	seconds := func(t *time.Time) string { return t.Sub(noon).String() }
	switch {
	case f == nil:
		return "unknown"
	case !f.Evict:
		return "stays"
	case f.Earliest != nil:
		return "goes at " + seconds(f.Earliest) + " to " + seconds(f.At)
	}
	return "goes at " + seconds(f.At)
}
