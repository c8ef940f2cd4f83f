package foresight_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/journal"
)

// loaded returns a model of the objects in the namespace shop, read in this way at noon.
func loaded(t *testing.T, r foresight.Reading, objects ...any) *foresight.Model {
	t.Helper()
	r.At = noon
	m, err := load(foresight.Ruleset{}, foresight.Focus{Namespace: "shop"}, r, objects...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Every answer has the notes on what was read, on the journal and on what is held, and what it lacks, so that all forms of
// the output have them.
func TestTheAnswersHaveTheSameNotes(t *testing.T) {
	refused := foresight.NewJournal("the ConfigMaps of the journal")
	refused.Add(journal.GuardsPartition, journal.StoredPartition{}, apierrors.NewForbidden(v1.Resource("configmaps"), "", errors.New("no")))
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
			foresight.Reading{Journal: foresight.NewJournal("nowhere")},
			[]any{node("n1", parsed("gpu:NoExecute")), unknown},
			[]string{"there is no journal (nowhere), so since when a taint is there is known only where it has a timeAdded"},
		},
		"a journal that can't be read": {
			foresight.Reading{Journal: refused}, []any{node("n1"), unknown}, []string{"this user may not list the ConfigMaps of the journal, " +
				"so whether a breaker has tripped or the manager is paused is not known: pods may be held, and deleteAfter may count from later"},
		},
	} {
		m := loaded(t, c.reading, c.objects...)
		e, err := m.Explain("shop", "a", noon)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Plan(ask("other:NoExecute"))
		if err != nil {
			t.Fatal(err)
		}
		for what, notes := range map[string][]string{"explain": e.Notes, "plan": p.Notes, "pending": m.Pending(noon, nil).Notes} {
			if diff := cmp.Diff(c.want, notes); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, what, diff)
			}
		}
	}
}

// An answer about the time of the reading says that this is long ago; an answer about a given time does not.
func TestOnlyAQuestionWithoutATimeIsAboutTheAgeOfADump(t *testing.T) {
	old := foresight.Reading{At: at(-3600), Aged: "it is old"}
	for _, c := range []struct {
		question, answer time.Time
		want             []string
	}{{time.Time{}, at(-3600), []string{"it is old"}}, {noon, noon, nil}} {
		m, err := foresight.NewBuilder(foresight.Ruleset{}, foresight.Focus{}).Load(old, c.question)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, m.Pending(m.At(), nil).Notes); diff != "" || !m.At().Equal(c.answer) {
			t.Errorf("at %v (-want +got):\n%s", m.At(), diff)
		}
	}
}

// Neither nodes nor a journal of theirs can be read: the answer says how many pods may go at most.
func TestWhatIsNotKnownIsInTheAnswer(t *testing.T) {
	m := loaded(t, foresight.Reading{Hidden: "list", Journal: foresight.NewJournal("nowhere")}, pod("a"), pod("b", tolerates("", -1)))
	p := m.Pending(noon, []string{"n1"})
	want := "cannot say all: this user may not list nodes, and there is no journal (nowhere), so it is not known which taints there are: " +
		"none to 1 of 2 pods are scheduled in namespace shop on n1; " +
		"--server asks the manager, and the ClusterRole taint-manager-viewer of deploy/rbac.yaml grants what is missing"
	if err := p.CannotSay(); err == nil || err.Error() != want || p.TaintedNodes != nil || *p.Undecided != 1 {
		t.Errorf("got %v, want %s", err, want)
	}
	lost := loaded(t, foresight.Reading{Dumped: true, From: "a dump"}, pod("a"))
	_, err := lost.Explain("shop", "a", noon)
	if err == nil || !strings.HasPrefix(err.Error(), "cannot say what becomes of pod shop/a: in a dump 1 pod has a node that is missing (n1)") {
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
	stays, err := m.Explain("", "stays", noon)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		answer interface {
			Names() []string
			Evictions() (because, all int)
		}
		names        []string
		because, all int
	}{
		"plan":                        {p, []string{"shop/later"}, 1, 3},
		"pending":                     {m.Pending(noon, nil), []string{"shop/a", "shop/elsewhere", "shop/later"}, 3, 3},
		"explain, of a pod that goes": {explained(m, noon), []string{"shop/a"}, 1, 1},
		"explain, of one that stays":  {stays, nil, 0, 0},
	} {
		because, all := c.answer.Evictions()
		if diff := cmp.Diff(c.names, c.answer.Names()); diff != "" || because != c.because || all != c.all {
			t.Errorf("%s: %d of %d (-want +got):\n%s", what, because, all, diff)
		}
		if text, err := json.Marshal(c.answer); err != nil || !strings.HasPrefix(string(text), `{"apiVersion":"taint-manager/v1alpha1","kind":"`) {
			t.Errorf("%s: %v in JSON: %s", what, err, text)
		}
	}
}
