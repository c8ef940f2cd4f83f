package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// text is a plan in a form for people.
type text struct {
	*foresight.Plan
	*answer.Text
	anyway  bool            // whether pods that go anyway from other nodes are listed
	nodes   map[string]bool // the nodes in question
	several bool            // pods of several namespaces go
}

func newText(t *answer.Text, plan *foresight.Plan, anyway bool) *text {
	nodes, namespaces := map[string]bool{}, map[string]bool{}
	for i := range plan.Nodes {
		nodes[plan.Nodes[i].Name] = true
	}
	for _, p := range plan.Pods {
		if p.Evict {
			namespaces[p.Namespace] = true
		}
	}
	return &text{plan, t, anyway, nodes, len(namespaces) > 1}
}

// name returns the name of an owner or a budget, with its namespace if pods of several namespaces go.
func (t *text) name(namespace, name string) string {
	if t.several {
		return namespace + "/" + name
	}
	return name
}

// list joins names, in the wide form all of a long list.
func (t *text) list(names []string) string {
	all, short := strings.Join(names, ", "), foresight.ShortList(names)
	switch {
	case t.Wide():
		return all
	case short != all:
		short += " (-o wide)"
	}
	return short
}

// all writes the whole answer.
func (t *text) all() {
	if t.Bare {
		t.pods()
		return
	}
	t.headline()
	t.replicas()
	t.saved()
	t.budgets()
	if t.Form == answer.AsSummary {
		t.summary()
	} else {
		t.pods()
	}
	t.footer()
}

// headline says what changes, and how many pods go because of it, until when.
func (t *text) headline() {
	total, where, nodes := &t.Total, t.Focus.Words(nil), len(t.Nodes)
	all := total.Evict + total.Stay + total.Anyway + total.Held
	pods := answer.Verb(nodes, "its ", "their ") + foresight.Count(all, "pod") + where
	var says string
	switch {
	case all == 0:
		says = answer.Verb(nodes, "it has no pods", "they have no pods") + where
	case total.Evict == 0:
		says = "no pod" + where + " goes because of this"
	case total.Waiting > 0:
		says = "of " + pods + " " + suggest.JoinWords(t.counts(), "and")
	case total.Now == total.Evict:
		says = fmt.Sprintf("%d of %s %s now", total.Evict, pods, answer.Verb(total.Evict, "goes", "go"))
	case total.Evict == 1:
		says = fmt.Sprintf("1 of %s goes %s", pods, t.at(total.Last))
	default:
		says = fmt.Sprintf("%d of %s go, the last %s", total.Evict, pods, t.at(total.Last))
	}
	if total.Held > 0 {
		says += "; " + counted(total.Held, "is", "are", "held")
	}
	t.Printf("%s: %s.\n", t.change(), says)
}

// counts returns how many pods go now, later, and when budgets admit it.
func (t *text) counts() (counts []string) {
	total := &t.Total
	if total.Now > 0 {
		counts = append(counts, counted(total.Now, "goes", "go", "now"))
	}
	if later := total.Evict - total.Now - total.Waiting; later > 0 {
		counts = append(counts, counted(later, "goes", "go", "by "+t.until(total.Last)))
	}
	return append(counts, counted(total.Waiting, "waits", "wait", "for budgets"))
}

// counted says what a number of pods do.
func counted(n int, one, many, rest string) string {
	return fmt.Sprintf("%d %s %s", n, answer.Verb(n, one, many), rest)
}

// at returns when a pod goes: "at 12:10:00Z", or "by 12:10:00Z" if only the latest time is known.
func (t *text) at(last *foresight.Prediction) string {
	if last.Earliest != nil {
		return answer.Clock(last, t.At)
	}
	return "at " + answer.Clock(last, t.At)
}

// until returns the latest time at which a pod goes.
func (t *text) until(last *foresight.Prediction) string {
	return strings.TrimPrefix(answer.Clock(last, t.At), "by ")
}

// change names the nodes and the taints that they get and lose.
func (t *text) change() string {
	var set, removed, names []string
	for _, n := range t.Nodes {
		names = append(names, n.Name)
		for _, c := range n.Changes {
			list := &set
			if c.Change == foresight.Removed || c.Change == foresight.Absent {
				list = &removed
			}
			if !slices.Contains(*list, c.Taint) {
				*list = append(*list, c.Taint)
			}
		}
	}
	nodes := foresight.ShortList(names)
	if len(names) > 1 {
		nodes = fmt.Sprintf("%d nodes (%s)", len(names), nodes)
	}
	var does []string
	if len(set) > 0 {
		does = append(does, answer.Verb(len(names), "gets ", "get ")+suggest.JoinWords(set, "and"))
	}
	if len(removed) > 0 {
		does = append(does, answer.Verb(len(names), "loses ", "lose ")+suggest.JoinWords(removed, "and"))
	}
	words := nodes
	if len(does) > 0 {
		words += " " + suggest.JoinWords(does, "and")
	}
	if t.Compared != "" {
		words += ", with this configuration instead of " + t.Compared
	}
	return words
}

// replicas names the owners that lose all their replicas, and until when.
func (t *text) replicas() {
	if t.Form == answer.AsSummary {
		return // its table of owners says so
	}
	var all, some []*foresight.OwnerTotal
	for i := range t.Owners {
		switch o := &t.Owners[i]; {
		case !loses(o):
		case o.Evict == o.Replicas:
			all = append(all, o)
		default:
			some = append(some, o)
		}
	}
	var sentences []string
	if len(all) > 0 {
		var names []string
		last := all[0].Last
		for _, o := range all {
			names = append(names, t.name(o.Namespace, o.Name))
			if last.At.Before(*o.Last.At) {
				last = o.Last
			}
		}
		sentences = append(sentences, foresight.ShortList(names)+": all replicas by "+t.until(last)+".")
	}
	for _, o := range some {
		others := "the other goes"
		if n := o.Replicas - o.Evict; n > 1 {
			others = fmt.Sprintf("the other %d go", n)
		}
		sentences = append(sentences, fmt.Sprintf("%s: %d of %d, %s anyway.", t.name(o.Namespace, o.Name), o.Evict,
			o.Replicas, others))
	}
	if len(sentences) > 0 {
		t.Printf("%s\n", strings.Join(sentences[:min(len(sentences), 5)], " "))
	}
}

// saved names the pods that stay because of the change.
func (t *text) saved() {
	var saved []string
	for _, p := range t.Pods {
		if p.Effect == foresight.Saved {
			saved = append(saved, p.String()+" (was "+t.due(p.Without)+")")
		}
	}
	if len(saved) > 0 {
		t.Printf("%s now: %s.\n", answer.Verb(len(saved), "Stays", "Stay"), t.list(saved))
	}
}
