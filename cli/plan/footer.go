package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// footer counts the pods that are not listed, and has the warnings.
func (t *text) footer() {
	otherwise := func(p pod) bool { return p.Original != "" }
	if t.Wide() && slices.ContainsFunc(t.Pods, otherwise) {
		t.Printf("%s is how it would decide otherwise: %s\n", theOriginal, answer.Differences)
	}
	warnings := t.warnings()
	var counts []string
	if t.Total.Elsewhere > 0 && !t.anyway {
		counts = append(counts, fmt.Sprintf("Anyway from other nodes: %d (--anyway).", t.Total.Elsewhere))
	}
	if t.Total.Stay > 0 && !t.Wide() {
		counts = append(counts, fmt.Sprintf("Stay: %d (-o wide).", t.Total.Stay))
	}
	if len(warnings) > 0 {
		counts = append(counts, string(t.Paint(terminal.Warned, foresight.Count(len(warnings), "warning")))+":")
	}
	if len(counts) > 0 {
		if t.Form == answer.AsSummary {
			t.WriteString("\n")
		}
		t.WriteString(strings.Join(counts, " ") + "\n")
	}
	for _, w := range warnings {
		t.Printf("%s.\n", w)
	}
}

// warnings returns each warning once, with the pods that it is about.
func (t *text) warnings() (list []string) {
	var order []string
	about := map[string][]string{}
	for _, p := range t.Pods {
		for _, warning := range p.Warnings {
			if about[warning] == nil {
				order = append(order, warning)
			}
			about[warning] = append(about[warning], p.String())
		}
	}
	for _, warning := range order {
		list = append(list, t.list(about[warning])+": "+warning)
	}
	return list
}
