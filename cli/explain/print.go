package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

type explainedTaint = *foresight.ExplainedTaint

// text is an explanation in a form for people.
type text struct {
	*foresight.Explanation
	*answer.Text
}

// all writes the whole answer.
func (t *text) all() {
	switch {
	case t.Pod.Gone:
		t.Printf("%s is gone: %s.\n", t.pod(), t.History)
		t.manager()
	case t.Prediction == nil:
		t.Printf("%s is known only as far as the manager tells.\n", t.pod())
		t.manager()
	default:
		t.prediction()
		t.taints()
		t.budgets()
		t.manager()
		t.disruption()
		t.original()
		t.commands()
	}
	t.events()
}

func (t *text) pod() string { return "Pod " + t.Pod.Namespace + "/" + t.Pod.Name }

func (t *text) onNode() string {
	if t.Pod.Node == "" {
		return ""
	}
	return " on node " + t.Pod.Node
}

// prediction writes the answer in one sentence, after what is in the way of the pod.
func (t *text) prediction() {
	f, pod := t.Prediction, t.pod()+t.onNode()
	if inTheWay := t.Stuck + t.Blocker; inTheWay != "" { // only one of them can be set
		state := "does not go"
		if t.Stuck != "" {
			state = "is stuck"
		}
		t.Printf("%s %s: %s.\n", pod, t.Paint(terminal.Bad, state), inTheWay)
		pod = "It"
	}
	switch {
	case t.Stuck != "":
		t.Printf("It should be gone since %s: %s.\n", taint.Stamp(*t.Pod.Ends), f.Reason)
	case t.Pod.Ends != nil:
		t.Printf("%s is %s, until %s: %s.\n", pod, t.Paint(terminal.Warned, "going"), taint.Stamp(*t.Pod.Ends),
			f.Reason)
	case f.Evict && t.Accepted():
		t.Printf("%s is %s: its eviction is accepted, and was due at %s: %s.\n", pod,
			t.Paint(terminal.Warned, "going"), taint.Stamp(*f.At), f.Reason)
	case !f.Evict && f.HeldBy != "":
		t.Printf("%s is %s%s.\n", pod, t.Paint(terminal.Warned, "held"), strings.TrimPrefix(f.Reason, "held"))
	case !f.Evict:
		t.Printf("%s %s%s: %s.\n", t.pod(), t.Paint(terminal.Good, "stays"), t.onNode(), f.Reason)
	default:
		t.Printf("%s %s, %s: %s.\n", pod, t.due(), answer.AtTheLatest(f), f.Reason)
	}
	if f.Evict && f.HeldBy != "" {
		t.Printf("Because of another taint it is held by %s.\n", f.HeldBy)
	}
	for _, audit := range f.Audits {
		t.Printf("In mode Audit: %s.\n", audit)
	}
	if t.History != "" {
		t.Printf("%s%s.\n", strings.ToUpper(t.History[:1]), t.History[1:])
	}
	if t.Overdue() && t.Blocker == "" {
		t.WriteString(t.stillThere())
	}
}

// stillThere returns what to check if a pod is overdue, and it is not known why.
func (t *text) stillThere() string {
	if t.Manager != nil {
		return "It is still there.\n"
	}
	return "It is still there: no manager runs, or something is in the way of its eviction; --server asks " +
		"the manager.\n"
}

// commands writes what to do about a pod that is to go.
func (t *text) commands() {
	for _, c := range t.Commands {
		t.Printf("\n# %s%s\n%s\n", strings.ToUpper(c.Does[:1]), c.Does[1:], c.Command)
	}
}

// due describes when the pod is evicted, relative to the moment of the question.
func (t *text) due() terminal.Safe {
	f := t.Prediction
	switch {
	case f.At.After(t.At):
		return t.Paint(terminal.Warned, "is to be evicted "+answer.When(f, t.At))
	case t.At.Sub(*f.At) < time.Second:
		return t.Paint(terminal.Bad, "is to be evicted now")
	}
	return t.Paint(terminal.Bad, "was to be evicted "+answer.Lasting(*f.At, t.At)+" ago")
}

// taints writes the taints one by one if the pod is to be evicted.
func (t *text) taints() {
	switch {
	case len(t.Taints) == 0:
		return
	case !t.Prediction.Evict && t.Prediction.HeldBy == "" && !t.Wide():
		t.Printf("-o wide shows the taints of the node, and the tolerations that match them.\n")
		return
	}
	answer.Table(t.Text, t.taintTable())
	before := "\n"
	for i := range t.Taints {
		if e := &t.Taints[i]; len(e.Arithmetic) > 0 {
			t.Printf(before+"%s: %s.\n", e.Taint, strings.Join(e.Arithmetic, "; "))
			before = ""
		}
	}
}

func (t *text) taintTable() terminal.Table[explainedTaint] {
	taints := make([]explainedTaint, len(t.Taints))
	for i := range taints {
		taints[i] = &t.Taints[i]
	}
	return terminal.Table[explainedTaint]{Rows: taints, Columns: []terminal.Column[explainedTaint]{
		{Heading: "TAINT", Text: func(e explainedTaint) string { return e.Taint }},
		{Heading: "SINCE", Text: sinceWhen},
		{Heading: "COUNTS FROM", Text: countsFrom},
		{Heading: "TOLERATION", Text: granted},
		{Heading: "TOLERATED UNTIL", Text: t.until},
		{Heading: "THEN", Text: t.then, Colour: t.urgency},
	}}
}

// countsFrom returns the moment from which the time of the toleration counts.
func countsFrom(e explainedTaint) string {
	switch f := e.Prediction; {
	case f == nil || f.ExposedSince == nil:
		return ""
	case f.ExposedSinceEarliest != nil:
		return taint.Stamp(*f.ExposedSinceEarliest) + " at the earliest"
	default:
		return taint.Stamp(*f.ExposedSince)
	}
}

// budgets describes the PodDisruptionBudgets that select the pod, and how many evictions they admit.
func (t *text) budgets() {
	if len(t.Budgets) == 0 || !t.Wide() && !t.Prediction.Evict {
		return
	}
	t.WriteString("\n")
	for _, b := range t.Budgets {
		asked := ""
		switch {
		case t.Method() == string(config.MethodDelete):
			asked = "; it is not asked (" + t.methodOf() + ")"
		case !b.Asked:
			asked = "; this pod goes without asking it"
		case b.Admits == 0:
			asked = ", so it would block the eviction"
		}
		t.Printf("PodDisruptionBudget %s selects it, and "+
			"admits %s now%s.\n", b.Name, foresight.Count(b.Admits, "eviction"), asked)
	}
	if len(t.Budgets) > 1 && t.Method() == string(config.MethodEvict) {
		t.WriteString("The API server evicts no pod that two of them select.\n")
	}
}

// methodOf names the source of the method.
func (t *text) methodOf() string {
	if t.Prediction.Method != "" {
		return "method " + t.Prediction.Method + " of policy " + t.Prediction.Policy
	}
	return "--eviction-method=" + t.EvictionMethod
}

// original says what the original would decide otherwise.
func (t *text) original() {
	if clause := foresight.NotableOriginal(t.Original); clause != "" {
		t.Printf("\n%s: %s. %s lists the differences.\n", t.Paint(terminal.Warned, "The original would "+
			"decide otherwise"), clause, answer.Differences)
	}
}

func sinceWhen(e explainedTaint) string {
	switch {
	case e.Since == nil:
		return ""
	case e.SinceEarliest != nil:
		return "not known"
	}
	return taint.Stamp(*e.Since) + " (" + e.SinceFrom + ")"
}

// granted returns the toleration, and how long it tolerates the taint.
func granted(e explainedTaint) string {
	switch {
	case e.Toleration == "":
		return "none"
	case e.TolerationSeconds == nil:
		return e.Toleration + ", without a limit"
	}
	return fmt.Sprintf("%s, %d s", e.Toleration, *e.TolerationSeconds)
}

// until returns the time until which a taint is tolerated.
func (t *text) until(e explainedTaint) string {
	switch {
	case e.Prediction == nil || !e.Prediction.Evict && e.Prediction.HeldBy != "":
		return ""
	case !e.Prediction.Evict:
		return "for ever"
	case e.Toleration == "" && e.Prediction.Policy == "":
		return "not tolerated"
	}
	return answer.Stamp(e.Prediction)
}

// then returns the result of one taint alone.
func (t *text) then(e explainedTaint) string {
	switch {
	case e.Prediction == nil:
		return "evicts no pod"
	case e.Prediction.Evict && e.Prediction.At.After(t.At):
		return "evicted " + answer.When(e.Prediction, t.At)
	case e.Prediction.Evict:
		return "due " + answer.When(e.Prediction, t.At)
	}
	return answer.When(e.Prediction, t.At)
}

// urgency returns the colour of the result of one taint alone.
func (t *text) urgency(e explainedTaint) terminal.Colour {
	switch f := e.Prediction; {
	case f == nil || !f.Evict && f.HeldBy == "":
		return terminal.Good
	case f.Evict && (e.Toleration == "" && f.Policy == "" || !f.At.After(t.At)):
		return terminal.Bad
	}
	return terminal.Warned
}

// disruption writes the pod's condition DisruptionTarget.
func (t *text) disruption() {
	d := t.Disruption
	if d == nil {
		return
	}
	since := ""
	if d.Since != nil {
		since = " since " + taint.Stamp(*d.Since)
	}
	t.Printf("\nIts condition DisruptionTarget says%s: %s (%s).\n", since, d.Message, d.Reason)
}

// events writes the events of a pod that is gone, terminating or overdue; of any pod in the wide form.
func (t *text) events() {
	if len(t.Events) == 0 || !t.Wide() && !t.Pod.Gone && t.Disruption == nil && t.Pod.Ends == nil && !t.Overdue() {
		return
	}
	t.WriteString("\n")
	events := terminal.Table[foresight.Event]{Rows: t.Events, Columns: []terminal.Column[foresight.Event]{
		{Heading: "TIME", Text: func(e foresight.Event) string { return taint.Stamp(e.Time) }},
		{Heading: "TYPE", Text: func(e foresight.Event) string { return e.Type }},
		{Heading: "REASON", Text: func(e foresight.Event) string { return e.Reason }},
		{Heading: "MESSAGE", Text: func(e foresight.Event) string { return answer.OneLine(e.Message) }},
	}}
	events.Print(&t.Builder, t.Painter, 0) // truncated messages would be useless
}
