package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// budgets says which pods wait for budgets, or might if budgets were asked.
func (t *text) budgets() {
	going, asking := 0, 0
	var might []string
	for _, p := range t.Pods {
		if p.Evict {
			going++
		}
		if t.AsksBudgets(p) {
			asking++
		}
		if len(p.BlockedBy) > 0 {
			might = append(might, t.name(p.Namespace, ownerOrName(p)))
		}
	}
	method := "Method Evict"
	if asking < going {
		method = fmt.Sprintf("Method Evict, for %d of %d", asking, going)
	}
	switch {
	case t.Total.Evict+t.Total.Anyway == 0 && (t.Total.Elsewhere == 0 || !t.anyway): // no pod is listed
	case asking == 0 && len(t.Budgets) == 0:
		t.WriteString("Method Delete: budgets are not asked.\n")
	case asking == 0 && len(might) == 0:
		t.WriteString("Method Delete: budgets are not asked; with Evict, they would admit all.\n")
	case asking == 0:
		t.Printf("Method Delete: budgets are not asked; with Evict, %s might wait.\n", few(might))
	case t.BudgetsUnknown:
		t.Printf("%s: budgets are not known, and may keep some of these pods.\n", method)
	default:
		t.Printf("%s: %s.\n", method, t.kept())
	}
}

// kept says which budgets keep pods, and how many: until they admit more or, if several select a pod, for ever.
func (t *text) kept() string {
	var once, several kept
	for _, p := range t.Pods {
		switch {
		case !t.Waits(p):
		case len(p.BlockedBy) > 1:
			several.add(t, p)
		default:
			once.add(t, p)
		}
	}
	var clauses []string
	if once.pods > 0 {
		until := answer.Verb(len(distinct(once.by)), "keeps %s, until it admits more", "keep %s, until they admit more")
		clauses = append(clauses, budgets(once.by)+" "+fmt.Sprintf(until, once.String()))
	}
	if several.pods > 0 {
		clauses = append(clauses, budgets(several.by)+" select "+several.String()+
			" more than once, and the API server evicts no such pod")
	}
	return cmp.Or(strings.Join(clauses, "; "), "budgets keep no pod")
}

// kept are the pods that budgets keep.
type kept struct {
	by                      []string
	pods, elsewhere, anyway int
}

func (k *kept) add(t *text, p pod) {
	for _, budget := range p.BlockedBy {
		k.by = append(k.by, t.name(p.Namespace, budget))
	}
	k.pods++
	switch {
	case !t.nodes[p.Node]:
		k.elsewhere++
	case p.Effect == foresight.Anyway || p.Effect == foresight.Later:
		k.anyway++
	}
}

// String counts the pods, and those that the headline does not count.
func (k *kept) String() string {
	s := foresight.Count(k.pods, "pod")
	if k.elsewhere > 0 {
		s += fmt.Sprintf(", %d of them of other nodes", k.elsewhere)
	}
	if k.anyway > 0 {
		s += fmt.Sprintf(", %d of them anyway", k.anyway)
	}
	return s
}

// budgets names budgets: "budget web", "budgets api and web".
func budgets(names []string) string {
	return answer.Verb(len(distinct(names)), "budget ", "budgets ") + few(names)
}

// ownerOrName names the owner of a pod, or the pod if it has none.
func ownerOrName(p pod) string {
	if p.Owner != nil {
		return p.Owner.Name
	}
	return p.Name
}

func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// few joins the names, and counts the last ones of a long list.
func few(names []string) string {
	names = distinct(names)
	if short := foresight.ShortList(names); short != strings.Join(names, ", ") {
		return short
	}
	return suggest.JoinWords(names, "and")
}
