package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
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
		t.Printf("Pod %s is gone: %s.\n", t.Pod.String(), t.History)
	case t.Prediction == nil:
		t.Printf("It is unknown whether pod %s exists: %s.\n", t.Pod.String(), t.History)
	default:
		t.prediction()
		t.taints()
		t.budgets()
		t.remainder()
	}
	t.events()
}

// prediction writes the answer in one sentence. What blocks the pod comes before it.
func (t *text) prediction() {
	f, pod := t.Prediction, "Pod "+t.Pod.String()
	if t.Pod.Node != "" {
		pod += " on node " + t.Pod.Node
	}
	if inTheWay := t.Stuck + t.Blocker; inTheWay != "" { // only one of them can be set
		state := "is not evicted yet"
		switch {
		case t.Stuck != "":
			state = "is stuck"
		case !t.Overdue():
			state = "will not be evicted"
		}
		t.Printf("%s %s: %s.\n", pod, t.Paint(terminal.Bad, state), inTheWay)
		pod = "It"
	}
	end := t.Headline(": " + f.Reason)
	if t.Pod.Ends != nil { // the state is the reason
		end = "."
	}
	t.Printf("%s %s%s\n", pod, t.state(), end)
	t.pace()
	if f.Evict && f.HeldBy != "" {
		t.Printf("Another taint would evict it, but %s holds it.\n", f.HeldBy)
	}
	for _, audit := range f.Audits {
		t.Printf("Audit mode: %s.\n", audit)
	}
	if t.History != "" {
		t.Printf("%s%s.\n", strings.ToUpper(t.History[:1]), t.History[1:])
	}
	switch {
	case !t.Overdue() || t.Blocker != "":
	case f.Device != nil:
		t.Printf("The pod is still there: %s of kube-controller-manager is not running, or its calls fail.\n", f.DeletedBy)
	case f.DeletedBy != "":
		t.WriteString("The pod is still there: either kube-controller-manager is not running, or the DaemonSet's " +
			"template tolerates the taint.\n")
	default:
		t.WriteString("The pod is still there: either taint-manager is not running, or something blocks the eviction.\n")
	}
}

// pace writes the earliest start of this eviction and of the last one, by the limit that delays them the longest.
func (t *text) pace() {
	p := t.Pace
	if p == nil || t.Blocker != "" {
		return
	}
	clock, does := answer.ClockOf(t.At), "It may wait for others"
	if t.StartsAt != nil {
		does = "It goes at " + clock(*t.StartsAt) + " at the earliest"
	}
	t.Printf("%s: at %s/s, the last of %s goes at %s at the earliest.\n", does, fmt.Sprint(p.EvictionsPerSecond),
		foresight.Count(p.Evictions, "eviction"), clock(p.Last))
}

// state returns what happens to the pod.
func (t *text) state() terminal.Safe {
	switch f := t.Prediction; {
	case t.Stuck != "":
		return t.Paint(terminal.Bad, "should have terminated by "+taint.Stamp(*t.Pod.Ends))
	case t.Pod.Ends != nil:
		return t.Paint(terminal.Warned, "is terminating; its grace period ends at "+taint.Stamp(*t.Pod.Ends))
	case !f.EvictedOrHeld():
		return t.Paint(terminal.Good, "stays")
	case !f.Evict:
		return t.Paint(terminal.Warned, "stays for now")
	default:
		does, when := "evicted ", answer.When(f, t.At)
		if f.DeletedBy != "" {
			does, when = "deleted ", when+" by "+f.DeletedBy
		}
		due := "will be " + does + when + ", " + answer.AtTheLatest(f)
		switch {
		case strings.HasSuffix(answer.When(f, t.At), " ago"):
			due = "should have been " + does + when + ", " + answer.AtTheLatest(f)
		case t.Blocker != "":
			due = "is due " + when + ", " + answer.AtTheLatest(f)
		}
		return t.Paint(answer.Urgency(f, t.At), due)
	}
}

// taints writes the taints one by one if the pod is evicted or held; in the wide form, for any pod.
func (t *text) taints() {
	switch {
	case len(t.Taints) == 0:
		return
	case !t.Prediction.EvictedOrHeld() && !t.Wide():
		t.Printf("Use -o wide to see all taints of the node, whatever their effects, and the tolerations that match them.\n")
		return
	}
	ofNode, stays := new(foresight.UsedDevice), new(foresight.Prediction) // stays is for a taint that evicts no pod
	rows := make([]explainedTaint, len(t.Taints))
	for i := range rows {
		rows[i] = &t.Taints[i]
	}
	answer.Table(t.Text, terminal.Table[explainedTaint]{Rows: rows, Columns: []terminal.Column[explainedTaint]{
		{Heading: "TAINT", Text: func(e explainedTaint) string { return e.Taint }},
		{Heading: "DEVICE", Text: func(e explainedTaint) string { return cmp.Or(e.Device, ofNode).Name }},
		{Heading: "SINCE", Text: sinceWhen},
		{Heading: "TOLERATION", Text: granted},
		{Heading: "WHEN", Text: func(e explainedTaint) string {
			if e.Prediction == nil {
				return "does not evict"
			}
			return answer.When(e.Prediction, t.At)
		}, Colour: func(e explainedTaint) terminal.Colour {
			return answer.Urgency(cmp.Or(e.Prediction, stays), t.At)
		}},
		{Heading: "AT", Text: func(e explainedTaint) string {
			return answer.Stamp(cmp.Or(e.Prediction, stays), t.At)
		}},
	}})
	before := "\n"
	for _, e := range rows {
		steps := slices.DeleteFunc(slices.Clone(e.Arithmetic), func(s string) bool { return s == t.Prediction.Reason })
		if len(steps) > 0 {
			t.Printf(before+"%s: %s.\n", e.Taint, strings.Join(steps, "; "))
			before = ""
		}
	}
}

func sinceWhen(e explainedTaint) string {
	switch {
	case e.Since == nil:
		return ""
	case e.SinceEarliest != nil:
		return "unknown"
	case e.SinceFrom == foresight.FromTimeAdded && e.Device == nil:
		return taint.Stamp(*e.Since) + " (timeAdded + 1s)"
	}
	return taint.Stamp(*e.Since) + " (" + e.SinceFrom + ")"
}

// granted returns the toleration, how long it tolerates the taint, and a toleration that nearly matches.
func granted(e explainedTaint) string {
	text := cmp.Or(e.Granted(), "none")
	if e.NearMiss != nil {
		text += " (nearly " + e.NearMiss.Toleration + ")"
	}
	return text
}

// budgets describes the PodDisruptionBudgets that select the pod, and how many disruptions they allow.
func (t *text) budgets() {
	if len(t.Budgets) == 0 || !t.Wide() && !t.Prediction.Evict {
		return
	}
	t.WriteString("\n")
	for _, b := range t.Budgets {
		allows, asked := "allows "+foresight.Count(b.Admits, "disruption"), ""
		switch {
		case t.Method() == policy.Delete.Word():
			asked = ". Eviction method delete ignores budgets"
		case !b.Asked:
			asked = ", but this eviction ignores it"
		case b.Stuck:
			asked = ", and can't recover while this pod exists, so it blocks the eviction"
		case b.Never:
			allows, asked = "permits no disruption at all", ", so it blocks the eviction forever"
		case b.Admits == 0:
			asked = ", so it blocks the eviction"
		}
		t.Printf("PodDisruptionBudget %s %s%s.\n", b.Name, allows, asked)
	}
	if len(t.Budgets) > 1 && t.Method() == policy.Evict.Word() {
		t.WriteString("The API server never evicts a pod that two budgets select.\n")
	}
}

// remainder writes the pod's condition DisruptionTarget, what the built-in controller would decide differently, and
// what to do about a pod that is to be evicted.
func (t *text) remainder() {
	if d := t.Disruption; d != nil {
		since := ""
		if d.Since != nil {
			since = " since " + taint.Stamp(*d.Since)
		}
		t.Printf("\nCondition DisruptionTarget%s: %s (%s).\n", since, d.Message, d.Reason)
	}
	if t.Builtin != "" {
		t.Printf("\n%s: %s. docs/reference/differences.md lists the differences.\n",
			t.Paint(terminal.Warned, "kube-controller-manager would decide differently"), t.Builtin)
	}
	for _, c := range t.Commands {
		t.Printf("\n# %s%s\n%s\n", strings.ToUpper(c.Does[:1]), c.Does[1:], c.Command)
	}
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
