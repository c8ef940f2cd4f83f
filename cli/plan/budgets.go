package plan

import (
	"fmt"
	"slices"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// budgets says which pods wait for budgets, or might if budgets were asked.
func (t *text) budgets() {
	going, asking := 0, 0
	var might, keeping []string
	for _, p := range t.Pods {
		if p.Evict {
			going++
		}
		if t.AsksBudgets(p) {
			asking++
		}
		if len(p.BlockedBy) > 0 {
			might = append(might, ownerOrName(p))
		}
		if t.Waits(p) {
			keeping = append(keeping, p.BlockedBy...)
		}
	}
	method := "Method Evict"
	if asking < going {
		method = fmt.Sprintf("Method Evict, for %d of %d", asking, going)
	}
	switch {
	case going == 0:
	case asking == 0 && len(t.Budgets) == 0 && t.Total.Evict == 0:
	case asking == 0 && len(t.Budgets) == 0:
		t.WriteString("Method Delete: budgets are not asked.\n")
	case asking == 0 && len(might) == 0:
		t.WriteString("Method Delete: budgets are not asked; with Evict, they would admit all.\n")
	case asking == 0:
		t.Printf("Method Delete: budgets are not asked; with Evict, %s might wait.\n", few(might))
	case t.BudgetsUnknown:
		t.Printf("%s: budgets are not known, and may keep some of these pods.\n", method)
	case len(keeping) == 0:
		t.Printf("%s: budgets keep no pod.\n", method)
	default:
		words, kept := "budget %s keeps %s, until it admits more", foresight.Count(t.Total.AllWaiting, "pod")
		if len(distinct(keeping)) > 1 {
			words = "budgets %s keep %s, until they admit more"
		}
		t.Printf("%s: "+words+".\n", method, few(keeping), kept)
	}
}

// ownerOrName names the owner of a pod, or the pod if it has none.
func ownerOrName(p pod) string {
	if p.Owner != nil {
		return p.Owner.Name
	}
	return p.Name
}

func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// few joins the names, and counts those of a long list that it leaves out.
func few(names []string) string {
	const most = 5
	names = distinct(names)
	if rest := len(names) - most; rest > 1 {
		names = append(names[:most:most], fmt.Sprintf("%d more", rest))
	}
	return suggest.JoinWords(names, "and")
}
