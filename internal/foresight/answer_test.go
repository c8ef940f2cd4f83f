package foresight_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// loaded returns a model of the objects in the namespace shop, read in this way at noon.
func loaded(r foresight.Reading, objects ...any) *foresight.Model {
	r.At = noon
	return must(load(foresight.Ruleset{}, foresight.Focus{Namespace: "shop"}, r, objects...))
}

// Every answer has the notes on what was read, on the journal and on what is held, and what it lacks, so that all forms
// of the output have them.
func TestTheAnswersHaveTheSameNotes(t *testing.T) {
	refused := foresight.NewJournal("the ConfigMaps of the journal", "the state", "grant")
	refused.Add(journal.StateObject, journal.StoredPartition{}, apierrors.NewForbidden(v1.Resource("configmaps"), "", errors.New("no")))
	empty := foresight.NewJournal("nowhere", "the state", "")
	empty.Add(journal.StateObject, state{written: at(-5)}.stored(), nil)
	empty.Add(0, journal.StoredPartition{}, nil)
	unknown := pod("a", tolerates("gpu", 60))
	for name, c := range map[string]struct {
		reading foresight.Reading
		objects []any
		want    []string
	}{
		"what was not read": {
			foresight.Reading{Notes: []string{"budgets are not known"}}, []any{node("n1"), unknown}, []string{"budgets are not known"},
		},
		"what a dump lacks": {
			foresight.Reading{Dumped: true},
			[]any{node("n1"), pod("a", func(p *v1.Pod) { p.UID = "" })},
			[]string{"1 pod has no metadata.uid, so pods are identified by namespace and name"},
		},
		"an unknown start, without the journal": {
			foresight.Reading{Journal: foresight.NewJournal("nowhere", "the state", "")},
			[]any{node("n1", parsed("gpu:NoExecute")), unknown},
			[]string{`evictions shown as "within" may happen earlier, because it is unknown when their taints were set: their field timeAdded is missing or invalid, and taint-manager's journal was not found (nowhere)`},
		},
		"an unknown start, with a journal that has no record yet": {
			foresight.Reading{Journal: empty}, []any{node("n1", parsed("gpu:NoExecute")), unknown}, nil,
		},
		"a start in timeAdded, without the journal": {
			foresight.Reading{Journal: foresight.NewJournal("nowhere", "the state", "")},
			[]any{node("n1", timed("gpu:NoExecute", -10)), unknown},
			nil,
		},
		"an unknown start of a taint that is tolerated forever, without the journal": {
			foresight.Reading{Journal: foresight.NewJournal("nowhere", "the state", "")},
			[]any{node("n1", parsed("gpu:NoExecute")), pod("a", tolerates("gpu", -1))},
			nil,
		},
		"an unknown start on another node, without the journal": {
			foresight.Reading{Journal: foresight.NewJournal("nowhere", "the state", "")},
			[]any{node("n1"), node("n2", parsed("gpu:NoExecute")), unknown},
			nil,
		},
		"a journal that can't be read": {
			foresight.Reading{Journal: refused}, []any{node("n1"), unknown}, []string{"this user may not get the ConfigMaps of the journal ('grant' grants it), " +
				"so tripped breakers and pauses are unknown; pods may be held, and deleteAfter may start later"},
		},
	} {
		m := loaded(c.reading, c.objects...)
		e := must(m.Explain("shop", "a", noon))
		p := must(m.Plan(ask("other:NoExecute")))
		for what, notes := range map[string][]string{"explain": e.Notes, "plan": p.Notes, "pending": m.Pending(noon, nil).Notes} {
			if diff := cmp.Diff(c.want, notes); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, what, diff)
			}
		}
	}
}

// An old dump is judged as of its own time, from which a relative time counts. A time before it is warned about.
func TestTheTimeOfAQuestionAboutADump(t *testing.T) {
	old := foresight.Reading{From: "shop.json", At: at(-3600), Newest: at(-3600), Aged: true}
	fresh := foresight.Reading{From: "shop.json", At: noon, Newest: at(-5)}
	const newest = "the newest time in shop.json is 2026-05-01T11:00:00Z"
	for _, c := range []struct {
		name            string
		read            foresight.Reading
		question        foresight.Moment
		answer          time.Time
		notes, warnings []string
	}{
		{"none", old, foresight.Moment{}, at(-3600), []string{newest + ", so --at defaults to it; --at=now uses the current time"}, nil},
		{"relative", old, foresight.Moment{After: time.Hour}, noon, []string{newest + ", and --at is relative to it"}, nil},
		{"given", old, foresight.Moment{At: noon}, noon, nil, nil},
		{"that of the dump", old, foresight.Moment{At: at(-3600)}, at(-3600), nil, nil},
		{"before the dump", old, foresight.Moment{At: at(-3601)}, at(-3601), nil, []string{newest + ", which is after 2026-05-01T10:59:59Z; changes in between count as if they had already happened"}},
		{"relative, before the dump", old, foresight.Moment{After: -time.Second}, at(-3601), nil, []string{newest + ", which is after 2026-05-01T10:59:59Z; changes in between count as if they had already happened"}},
		{"none, of a new dump", fresh, foresight.Moment{}, noon, nil, nil},
		{"relative, of a new dump", fresh, foresight.Moment{After: time.Hour}, at(3600), nil, nil},
		{"a live cluster", foresight.Reading{At: noon}, foresight.Moment{At: at(-1)}, at(-1), nil, nil},
	} {
		m := must(loadFor(c.question, foresight.Ruleset{}, foresight.Focus{}, c.read, node("n1"), pod("a")))
		p := must(m.Plan(ask("gpu:NoExecute")))
		e, pending := explained(m, m.At()), m.Pending(m.At(), nil)
		for what, r := range map[string]foresight.Remarks{"explain": e.Remarks, "pending": pending.Remarks, "plan": p.Remarks} {
			if diff := cmp.Diff(append(c.notes, c.warnings...), append(r.Notes, r.Warnings...)); diff != "" || !m.At().Equal(c.answer) || len(r.Warnings) != len(c.warnings) || r.WarnFirst != (c.warnings != nil) {
				t.Errorf("%s, %s: at %v (-want +got):\n%s", c.name, what, m.At(), diff)
			}
		}
	}
}

// A pod that was added twice counts once, whether it is kept or only counted.
func TestOneNameIsOnePod(t *testing.T) {
	version := func(uid, version string) *v1.Pod {
		return pod("a", ownedBy("StatefulSet/a"), func(p *v1.Pod) { p.UID, p.ResourceVersion = types.UID(uid), version })
	}
	for _, c := range []struct {
		name          string
		first, second *v1.Pod
	}{
		{"the same", version("u1", "7"), version("u1", "7")},
		{"a later one", version("u1", "7"), version("u1", "8")},
		{"no versions, but the same", version("u1", ""), version("u1", "")},
		{"another namespace", version("u1", "7"), pod("a", func(p *v1.Pod) { p.Namespace = "bank" })},
	} {
		for kept, nodes := range map[string][]any{"kept": {node("n1", parsed("gpu:NoExecute"))}, "counted": {node("n1"), node("n2")}} {
			q := foresight.Question{Selection: foresight.Selection{Names: []string{"n" + fmt.Sprint(len(nodes))}}, At: noon}
			m := must(load(foresight.Ruleset{}, foresight.Focus{Nodes: &q.Selection}, foresight.Reading{From: "x"}, append(nodes, c.first, c.second)...))
			p := must(m.Plan(q))
			if got := m.Pods("shop"); got != 1 {
				t.Errorf("%s, %s: %d pods", c.name, kept, got)
			}
			for _, o := range p.Owners {
				if o.Name == "a" && o.Replicas != 1 {
					t.Errorf("%s, %s: %+v", c.name, kept, o)
				}
			}
		}
	}
}

// The files of a dump may be given in any order.
func TestOfTwoStatesOfAnEventTheNewerCountsInAnyOrder(t *testing.T) {
	tells := func(version, message string) any {
		return &v1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "shop", Name: "e", UID: "e", ResourceVersion: version},
			InvolvedObject: v1.ObjectReference{Namespace: "shop", Name: "a"},
			Message:        message, LastTimestamp: metav1.NewTime(at(-9)),
		}
	}
	for _, c := range []struct {
		events []any
		want   string
	}{
		{[]any{tells("9", "older"), tells("10", "newer")}, "newer, 1 object of x was there in a newer state, which counts"},
		{[]any{tells("9", "in two API versions"), tells("9", "in two API versions")}, "in two API versions, "},
	} {
		for _, order := range orders(append(c.events, node("n1"), pod("a"))) {
			e := explained(loaded(foresight.Reading{From: "x"}, order...), noon)
			got := ""
			for _, event := range e.Events {
				got += event.Message + ", "
			}
			if got += strings.Join(e.Notes, "|"); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		}
	}
}

// Where evictions ask budgets and these are not known, the answer is incomplete; where none asks them, a note says so.
func TestEvictionsThatAskUnknownBudgetsAreNotAllClear(t *testing.T) {
	const unknown = "x has no PodDisruptionBudgets, so "
	const incomplete, note = unknown + "blocked evictions are unknown; if there are no budgets, add --no-budgets", unknown + "their effect is unknown"
	evicts := rulesOf(policy.Config{Method: policy.Evict})
	byPolicy := rulesOf(policy.Config{Policies: []policy.Policy{{Name: "p", Match: policy.Match{Taints: []policy.Taint{{Key: "gpu"}}}, Method: policy.Evict}}})
	for _, c := range []struct {
		name          string
		by            foresight.Ruleset
		pod           *v1.Pod
		plan, explain string
	}{
		{"delete", foresight.Ruleset{}, pod("a"), note, note},
		{"evict", evicts, pod("a"), incomplete, incomplete},
		{"evict, and nothing goes", evicts, pod("a", tolerates("", -1)), note, ""},
		{"a policy that evicts", byPolicy, pod("a"), incomplete, incomplete},
	} {
		m, err := load(c.by, foresight.Focus{}, foresight.Reading{From: "x", BudgetsUnknown: "x has no PodDisruptionBudgets"}, node("n1", timed("gpu:NoExecute", -5)), c.pod)
		if err != nil {
			t.Fatal(err)
		}
		p := must(m.Plan(ask("gpu:NoExecute")))
		e := explained(m, noon)
		for what, r := range map[string]struct {
			foresight.Remarks
			want string
		}{"plan": {p.Remarks, c.plan}, "explain": {e.Remarks, c.explain}} {
			isNote := slices.Contains(r.Notes, r.want)
			if isNote != (r.want == note) || slices.Contains(r.Incomplete, r.want) != (r.want == incomplete) || len(r.Incomplete) > 1 {
				t.Errorf("%s, %s: incomplete %q, notes %q", c.name, what, r.Incomplete, r.Notes)
			}
		}
	}
}

func TestAPodWhoseNodeIsMissingInADumpIsNotJudged(t *testing.T) {
	lost := loaded(foresight.Reading{Dumped: true, From: "a dump"}, pod("a"))
	_, err := lost.Explain("shop", "a", noon)
	if err == nil || !strings.HasPrefix(err.Error(), "pod shop/a cannot be explained: in a dump 1 pod has a node that is missing (n1)") {
		t.Errorf("a pod whose node is missing: %v", err)
	}
	if err := lost.Pending(noon, nil).CannotSay(); err == nil {
		t.Error("pending is silent about it")
	}
}

// The names and numbers of evictions, by which the exit code is chosen, are those of the JSON.
func TestAnAnswerCountsWhatIsToGo(t *testing.T) {
	m := modelOf(foresight.Focus{}, node("n1", timed("gpu:NoExecute", -100)), node("n2", timed("gpu:NoExecute", -100)),
		pod("a"), pod("later", tolerates("gpu", 300)), pod("stays", tolerates("", -1)), pod("elsewhere", on("n2")))
	p, err := m.Plan(ask("disk:NoExecute"))
	if err != nil {
		t.Fatal(err)
	}
	stays := must(m.Explain("", "stays", noon))
	for what, c := range map[string]struct {
		answer interface {
			Names() []string
			Evictions() int
		}
		names        []string
		because, all int
	}{
		"plan":                        {p, []string{"shop/later"}, 1, 3},
		"pending":                     {m.Pending(noon, nil), []string{"shop/a", "shop/elsewhere", "shop/later"}, 3, 3},
		"explain, of a pod that goes": {explained(m, noon), []string{"shop/a"}, 1, 1},
		"explain, of one that stays":  {stays, nil, 0, 0},
	} {
		because, all := len(c.answer.Names()), c.answer.Evictions()
		if diff := cmp.Diff(c.names, c.answer.Names()); diff != "" || because != c.because || all != c.all {
			t.Errorf("%s: %d of %d (-want +got):\n%s", what, because, all, diff)
		}
		if text, err := json.Marshal(c.answer); err != nil || !strings.HasPrefix(string(text), `{"apiVersion":"taint-manager/v1alpha1","kind":"`) {
			t.Errorf("%s: %v in JSON: %s", what, err, text)
		}
	}
}
