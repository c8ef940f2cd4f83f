package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/device"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// text is a plan in a form for people.
type text struct {
	*foresight.Plan
	*answer.Text
	anyway bool   // list pods on other nodes that are evicted anyway
	config string // the file that Compared is compared with
}

// all writes the whole answer.
func (t *text) all() {
	switch {
	case t.Bare:
		t.pods()
		return
	case t.Form == answer.AsSummary:
		t.sentences()
		t.summary()
	default:
		t.sentences()
		t.pods()
	}
	t.footer()
}

// sentences writes what the tables do not say.
func (t *text) sentences() {
	if d := t.Devices; d != nil && d.Rule != "" && d.All > 0 && len(d.Selected) == d.All {
		t.Printf("DeviceTaintRule %s selects all %s of the cluster.\n", d.Rule, foresight.Count(d.All, "device"))
	}
	t.headline()
	t.owners()
	t.saved()
	t.budgets()
}

// name returns the name of an owner or a budget, with its namespace unless the question is about one namespace.
func (t *text) name(namespace, name string) string {
	if t.Focus.Namespace != "" {
		return name
	}
	return namespace + "/" + name
}

// list joins names. Only the wide form has all names of a long list.
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

// headline says what changes, how many pods the change evicts, and until when.
func (t *text) headline() {
	clauses := slices.Concat([]string{t.evicted()}, t.others(), t.paces())
	t.Printf("%s\n", t.Headline(t.change()+" "+strings.Join(clauses, "; ")))
}

// paces says how rates delay the evictions from the nodes, and how the rates of a compared configuration delay them.
func (t *text) paces() (clauses []string) {
	all, clock := t.Total.Evict+t.Total.Anyway-t.Total.Waiting, answer.ClockOf(t.At)
	now, before := t.Pace.Words(all, clock), t.ComparedPace.Words(all, clock)
	if now == "" && before != "" {
		now = "no rate delays an eviction"
	}
	switch {
	case now == "":
		return nil
	case t.Compared == "" || now == before:
		return []string{now}
	case before == "":
		before = "no rate delays one"
	}
	return []string{now + " (with " + t.Compared + ", " + before + ")"}
}

// evicted says how many pods the change evicts, and when: "evicts 4 of its 6 pods: 2 now, 2 by 12:10:00Z".
func (t *text) evicted() string {
	total, where, nodes := &t.Total, t.Focus.Words(nil), len(t.Nodes)
	all := total.Evict + total.Stay + total.Anyway + total.Held
	its, has := foresight.Verb(nodes, "its", "their"), foresight.Verb(nodes, "it has", "they have")
	if t.replaces() {
		where += " on " + t.nodes()
		its, has = "the", "there are"
	} else if t.Devices != nil {
		its, has = "the", "there are"
		where += foresight.Verb(all, " that uses ", " that use ")
		where += foresight.Verb(len(t.Devices.Selected), "it", "them")
		if len(t.Nodes) > 0 {
			where += " on " + t.nodes()
		}
	}
	pods := foresight.Count(all, "pod") + where
	switch {
	case all == 0:
		return "evicts nothing: " + has + " no pods" + where
	case total.Evict == 0 && total.Saved > 0:
		return "cancels " + foresight.Count(total.Saved, "eviction") + where + ": " + t.list(t.cancelled())
	case total.Evict == 0 && all == 1:
		return "does not evict " + its + " only pod" + where
	case total.Evict == 0:
		return "evicts none of " + its + " " + pods
	case total.Evict == total.Never && all == 1:
		return "does not evict " + its + " only pod" + where + ": never by Evict"
	case total.Evict == total.Never:
		return "evicts none of " + its + " " + pods + ": " + strings.Join(t.counts(), ", ")
	case all == 1:
		return "evicts " + its + " only pod" + where + t.times()
	}
	return fmt.Sprintf("evicts %d of %s %s", total.Evict, its, pods) + t.times()
}

// times returns when the pods are evicted: " now", or ": 2 now, 2 by 12:10:00Z".
func (t *text) times() string {
	counts := t.counts()
	if len(counts) == 1 {
		_, when, _ := strings.Cut(counts[0], " ")
		return " " + when
	}
	return ": " + strings.Join(counts, ", ")
}

// counts returns how many pods are evicted now, later, and when budgets allow it.
func (t *text) counts() (counts []string) {
	count := func(n int, when string) {
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, when))
		}
	}
	total := &t.Total
	count(total.Now, "now")
	count(total.Evict-total.Now-total.Waiting, "by "+t.until(total))
	count(total.Waiting-total.Never, "when budgets allow"+t.deleted())
	count(total.Never, "never by Evict")
	return counts
}

// deleted says until when the pods that wait for budgets are deleted, or nothing if one may wait forever.
func (t *text) deleted() string {
	var last time.Time
	for _, p := range t.Pods {
		switch {
		case !p.Caused() || !p.Waits || p.NeverGoes:
		case p.DeleteAt == nil:
			return ""
		case last.Before(*p.DeleteAt):
			last = *p.DeleteAt
		}
	}
	if last.IsZero() {
		return ""
	}
	return " (deleted by " + answer.ClockOf(t.At)(last) + " at the latest)"
}

// others counts the other pods of the nodes: those that are evicted even without the change, and those that are held.
func (t *text) others() (counts []string) {
	if n := t.Total.Anyway; n > 0 {
		others := foresight.Verb(n, "is", "are")
		if t.Total.Evict > 0 {
			others = foresight.Verb(n, "other is", "others are")
		}
		counts = append(counts, fmt.Sprintf("%d %s already scheduled for eviction", n, others))
	}
	if n := t.Total.Held; n > 0 {
		counts = append(counts, fmt.Sprintf("%d %s held", n, foresight.Verb(n, "is", "are")))
	}
	return counts
}

// until returns the latest time at which a counted pod is evicted; "" if none is, or if all wait for budgets.
func (t *text) until(total *foresight.Total) string {
	if total.Last == nil {
		return ""
	}
	return strings.TrimPrefix(answer.Clock(total.Last, t.At), "by ")
}

// nodes names the selected nodes.
func (t *text) nodes() string {
	var names []string
	for _, n := range t.Nodes {
		names = append(names, n.Name)
	}
	if len(names) > 1 {
		return fmt.Sprintf("%d nodes (%s)", len(names), foresight.ShortList(names))
	}
	return foresight.ShortList(names)
}

// replaces reports whether only the configuration changes.
func (t *text) replaces() bool {
	changes := func(n foresight.PlannedNode) bool { return len(n.Changes) > 0 }
	return t.Compared != "" && !slices.ContainsFunc(t.Nodes, changes)
}

// change names the nodes and the taints that they get and lose.
func (t *text) change() string {
	if t.replaces() {
		return "Replacing " + t.Compared + " with " + t.config
	}
	if t.Devices != nil {
		return t.tainted()
	}
	var set, removed []string
	for _, n := range t.Nodes {
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
	does := "removing " + flags.JoinWords(removed, "and") + " from " + t.nodes()
	if len(set) > 0 {
		does = "tainting " + t.nodes() + " with " + flags.JoinWords(set, "and")
		if len(removed) > 0 {
			does += " and removing " + flags.JoinWords(removed, "and")
		}
	}
	if t.Compared != "" {
		return "With " + t.config + " instead of " + t.Compared + ", " + does + " newly"
	}
	return strings.ToUpper(does[:1]) + does[1:]
}

// owners names the owners that lose all their replicas, or all ready ones. In a summary, the table of owners says so.
func (t *text) owners() {
	var none, unready []string
	for i := range t.Owners {
		o := &t.Owners[i]
		switch n := o.Replicas - o.Evict; {
		case t.Form == answer.AsSummary || o.AllWaiting > 0: // a budget may keep some
		case o.LosesAll && n > 0:
			none = append(none, t.owner(o)+fmt.Sprintf(" (its other %s evicted even without this change)",
				foresight.Verb(n, "pod is", fmt.Sprintf("%d pods are", n))))
		case o.LosesAll:
			none = append(none, t.owner(o))
		case o.LosesReady:
			unready = append(unready, t.owner(o)+fmt.Sprintf(" (%d of its %d pods %s ready)", o.Ready, o.Replicas,
				foresight.Verb(o.Ready, "is", "are")))
		}
	}
	if len(none) > 0 {
		t.Printf("Workloads left without replicas: %s.\n", t.list(none))
	}
	if len(unready) > 0 {
		t.Printf("Workloads left without ready replicas: %s.\n", t.list(unready))
	}
}

// owner returns the name of an owner, with kind and group if another owner has the same name.
func (t *text) owner(o *foresight.OwnerTotal) string {
	twin := func(other foresight.OwnerTotal) bool {
		return other.Namespace == o.Namespace && other.Name == o.Name && other.Owner != o.Owner
	}
	if slices.ContainsFunc(t.Owners, twin) {
		return t.name(o.Namespace, o.String())
	}
	return t.name(o.Namespace, o.Name)
}

// saved names the pods that stay because of the change, unless the headline names them.
func (t *text) saved() {
	if saved := t.cancelled(); len(saved) > 0 && t.Total.Evict > 0 {
		t.Printf("Cancelled evictions: %s.\n", t.list(saved))
	}
}

// cancelled returns the pods that stay because of the change, and when they were due.
func (t *text) cancelled() (saved []string) {
	for _, p := range t.Pods {
		if p.Effect == foresight.Saved {
			saved = append(saved, p.String()+" (was due "+answer.When(p.Without, t.At)+")")
		}
	}
	return saved
}

// budgets says which budgets block pods that the change evicts or, if all are deleted, would block their eviction.
func (t *text) budgets() {
	asking, blocked, several := 0, 0, 0
	var never []string                           // names of the budgets that permit no disruption at all
	var keep, might, evicting, deleting []string // names of budgets, and of the policies that evict or delete
	for _, p := range t.Pods {
		if !p.Caused() {
			continue
		}
		list, policies := &might, &deleting
		if p.Asks {
			list, policies = &keep, &evicting
			asking++
		}
		*policies = append(*policies, p.Policy)
		for _, budget := range p.BlockedBy {
			*list = append(*list, t.name(p.Namespace, budget))
		}
		if len(p.BlockedBy) > 0 {
			blocked++
		}
		switch {
		case p.Waits && len(p.BlockedBy) > 1:
			several++
		case p.NeverGoes:
			never = append(never, t.name(p.Namespace, p.BlockedBy[0]))
		}
	}
	method := method("Evict", evicting)
	if asking < t.Total.Evict {
		method += fmt.Sprintf(" for %d of %d", asking, t.Total.Evict)
	}
	switch {
	case t.Total.Evict == 0: // the change evicts no pod, so no budget matters
	case t.Devices != nil:
		t.WriteString(device.Controller + " deletes the pods: PodDisruptionBudgets and policies are ignored.\n")
	case asking == 0:
		t.deletes(deleting, might, blocked)
	case t.BudgetsUnknown:
		t.Printf("%s: PodDisruptionBudgets are unknown and could block some of these evictions.\n", method)
	case len(keep) == 0:
		t.Printf("%s: no PodDisruptionBudget blocks these evictions.\n", method)
	default:
		ever := ""
		if several > 0 {
			ever = fmt.Sprintf("; several budgets select %d of them, which the API server never evicts", several)
		}
		t.Printf("%s: %s blocked by %s%s.\n", method, answer.Pods(t.Total.Waiting, "is", "are"), budgets(keep), ever)
		if len(never) > 0 {
			t.Printf("Never by Evict (%s): no disruption at all is permitted by %s.\n", foresight.Count(len(never), "pod"),
				budgets(never))
		}
	}
}

// deletes says that all pods are deleted, and how many of them budgets would block if the pods were evicted.
func (t *text) deletes(policies, might []string, blocked int) {
	would := ""
	if len(might) > 0 {
		with := "--eviction-method=evict"
		if !slices.Contains(policies, "") {
			with = "method Evict"
		}
		would = fmt.Sprintf(" With %s, %s would block the eviction of %d of these pods.", with, budgets(might), blocked)
	}
	t.Printf("%s: PodDisruptionBudgets are ignored.%s\n", method("Delete", policies), would)
}

// method names an eviction method or, if policies decide about all pods, the method and the policies.
func method(name string, policies []string) string {
	policies = slices.Compact(slices.Sorted(slices.Values(policies)))
	if slices.Contains(policies, "") {
		return "Eviction method " + strings.ToLower(name)
	}
	return "Method " + name + " (" + foresight.Verb(len(policies), "policy ", "policies ") +
		foresight.ShortList(policies) + ")"
}

// budgets names budgets: "PodDisruptionBudget web", "PodDisruptionBudgets api and web".
func budgets(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	list := foresight.ShortList(names)
	if len(names) < 4 {
		list = flags.JoinWords(names, "and")
	}
	return foresight.Verb(len(names), "PodDisruptionBudget ", "PodDisruptionBudgets ") + list
}

// footer counts the pods that are not listed, and writes each warning once, with the pods that it is about.
func (t *text) footer() {
	var counts []string
	if t.Total.Stay > 0 && !t.Wide() {
		counts = append(counts, answer.Pods(t.Total.Stay, "stays", "stay")+"; list "+
			foresight.Verb(t.Total.Stay, "it", "them")+" with -o wide.")
	}
	if t.Total.Elsewhere > 0 && !t.anyway {
		where := "on other nodes "
		if t.Devices != nil {
			where = "with other devices "
		}
		counts = append(counts, answer.Pods(t.Total.Elsewhere, where+"is", where+"are")+
			" already scheduled for eviction; list "+foresight.Verb(t.Total.Elsewhere, "it", "them")+
			" with --anyway.")
	}
	if len(counts) > 0 {
		t.WriteString(strings.Join(counts, " ") + "\n")
	}
	var warnings []string
	about := map[string][]string{}
	for _, p := range t.Pods {
		for _, warning := range p.Warnings {
			if about[warning] == nil {
				warnings = append(warnings, warning)
			}
			about[warning] = append(about[warning], p.String())
		}
	}
	for _, warning := range warnings {
		t.Printf("%s %s: %s.\n", t.Paint(terminal.Warned, "Warning:"), t.list(about[warning]), warning)
	}
}
