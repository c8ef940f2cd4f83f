package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/foresight"
)

// pendingOptions are the options of "pending".
type pendingOptions struct {
	judging

	nodes      []string
	selector   string
	from       sourceFlags
	everywhere bool
	at         string
	output     output
	watch      bool
	exitCode   exitCode
	server     string
}

func pendingCommand(ctx context.Context, at kube, read ReadConfig) *cobra.Command {
	a := &pendingOptions{judging: newJudging(read), from: sourceFlags{kube: at}}
	sections := a.flags()
	cmd := &cobra.Command{
		Use:  "pending",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(ctx, cmd) },
	}
	for _, section := range sections.FlagSets {
		cmd.Flags().AddFlagSet(section)
	}
	cmd.SetHelpFunc(terminal.SectionedHelp(pendingHelp, sections))
	a.complete(ctx, cmd)
	return cmd
}

func (a *pendingOptions) flags() cliflag.NamedFlagSets {
	var sections cliflag.NamedFlagSets
	fs := sections.FlagSet("pending")
	fs.StringVarP(&a.from.namespace, "namespace", "n", "", "Only the pods of `NAMESPACE`. If empty, that of the kubeconfig's context; in a dump, all.")
	fs.BoolVarP(&a.everywhere, "all-namespaces", "A", false, "The pods of all namespaces.")
	fs.StringSliceVar(&a.nodes, "node", nil, "Only the pods of `NODE`. May be given several times, or with commas.")
	fs.StringVarP(&a.selector, "selector", "l", "", "Only the pods with these labels: `SELECTOR` as in kubectl get pods -l.")
	fs.BoolVarP(&a.watch, "watch", "w", false, "Go on: on a terminal with running countdowns, else with a line for each change.")
	fs.StringVar(&a.server, "server", "", "Ask the manager itself, at the `URL` of its --status-address, such as http://127.0.0.1:8080 after kubectl port-forward. It also knows what is blocked, delayed or in flight, and when it tries again.")
	a.judging.flags(fs)
	addMomentFlag(fs, &a.at, "The moment of the question:")
	a.output.flags(fs, asTable, asWide, asSummary, asJSON, asYAML, asName, asPath)
	a.exitCode.flag(fs, false, "Exit with 2 when some eviction is scheduled.")
	a.from.flags(sections.FlagSet("cluster"))
	a.from.journalLocation.flags(sections.FlagSet("journal"))
	sections.FlagSet("other").BoolP("help", "h", false, "print this help")
	return sections
}

func (a *pendingOptions) run(ctx context.Context, cmd *cobra.Command) error {
	if err := errors.Join(a.check(), a.load(cmd)); err != nil {
		return err
	}
	if a.watch {
		return a.runWatch(ctx, cmd)
	}
	pending, err := a.ask(ctx, cmd)
	if err != nil {
		return err
	}
	for _, n := range pending.Notes {
		note(cmd.ErrOrStderr(), n)
	}
	if err := a.print(cmd, pending); err != nil {
		return err
	}
	if err := cannotSay(pending.Incomplete); err != nil {
		return err
	}
	going := pending.Going()
	return a.exitCode.of(going, going)
}

// ask gets the scheduled evictions from the manager, or computes them.
func (a *pendingOptions) ask(ctx context.Context, cmd *cobra.Command) (*foresight.Pending, error) {
	if a.server != "" {
		manager, err := a.openServer()
		if err != nil {
			return nil, err
		}
		return manager.pending(ctx)
	}
	at, err := moment(a.at)
	if err != nil {
		return nil, err
	}
	from, err := a.open(cmd)
	if err != nil {
		return nil, err
	}
	s, err := see(ctx, from, a.query(), a.model(), at)
	if errors.As(err, new(*foresight.TwiceError)) {
		return nil, fmt.Errorf("%w in %s; give what was written at one moment", err, from)
	}
	if err != nil {
		return nil, err
	}
	return a.tell(&s, s.at), nil
}

// query returns what to read.
func (a *pendingOptions) query() query {
	return query{namespaces: a.basis.Needs().NamespaceLabels, namespace: a.only(), nodes: a.nodes, labels: a.selector, hidden: true, tainted: true}
}

// model returns an empty model of the selected pods.
func (a *pendingOptions) model() *foresight.Model {
	selector, err := labels.Parse(a.selector)
	if err != nil {
		selector = labels.Nothing() // check has returned an error for it
	}
	focus := foresight.Focus{Namespace: a.only(), Labels: selector}
	if !a.watch {
		focus.Nodes = &foresight.Selection{Names: a.nodes}
	}
	return foresight.NewModel(a.basis, focus)
}

// open opens the cluster or the dump.
func (a *pendingOptions) open(cmd *cobra.Command) (source, error) {
	a.everywhere = a.everywhere || len(a.from.files) > 0 && a.from.namespace == ""
	return a.from.open(cmd, a.everywhere)
}

// openServer returns a client of the manager, which needs no kubeconfig. Without a namespace it selects all of them.
func (a *pendingOptions) openServer() (*statusClient, error) {
	if !a.everywhere && a.from.namespace == "" {
		namespace, err := a.from.contextNamespace()
		if err != nil {
			return nil, err
		}
		a.from.namespace, a.everywhere = namespace, namespace == ""
	}
	return newStatusClient(a)
}

// runWatch runs until it is interrupted.
func (a *pendingOptions) runWatch(ctx context.Context, cmd *cobra.Command) error {
	from, err := a.watcher(cmd)
	if err != nil {
		return err
	}
	return a.follow(ctx, cmd, from)
}

// watcher returns the watcher of the manager or of the cluster.
func (a *pendingOptions) watcher(cmd *cobra.Command) (watcher, error) {
	if a.server != "" {
		return a.openServer()
	}
	live, err := a.from.live(cmd.ErrOrStderr(), a.everywhere)
	if err != nil {
		return nil, err
	}
	return watchedCluster{live, a}, nil
}

// only returns the namespace of the selected pods; "" for all.
func (a *pendingOptions) only() string {
	if a.everywhere {
		return ""
	}
	return a.from.namespace
}

func (a *pendingOptions) print(cmd *cobra.Command, pending *foresight.Pending) error {
	if len(pending.Pods) == 0 && len(pending.Incomplete) == 0 {
		_, _ = fmt.Fprintln(cmd.ErrOrStderr(), terminal.Escape(a.calm(pending)))
	}
	return printPending(cmd.OutOrStdout(), pending, a.output.style(cmd), a.everywhere)
}

// calm returns the answer if nothing is scheduled.
func (a *pendingOptions) calm(p *foresight.Pending) string {
	s := "No eviction is scheduled" + a.where() + ", by taint-manager's rules"
	switch tainted := p.TaintedNodes; {
	case tainted == nil:
		return s + "."
	case *tainted == 0 && len(a.nodes) == 0:
		return s + ": no node carries a NoExecute taint."
	case *tainted == 0:
		return s + ": no NoExecute taint is there."
	case *tainted == 1:
		return s + ": no pod is affected by the taints of the one node that carries some."
	}
	return s + fmt.Sprintf(": no pod is affected by the taints of the %d nodes that carry some.", *p.TaintedNodes)
}

// where returns the end of a sentence that names the selection.
func (a *pendingOptions) where() string {
	var s string
	if !a.everywhere {
		s += " in namespace " + a.from.namespace
	}
	if len(a.nodes) > 0 {
		s += " on " + fewOf(a.nodes)
	}
	if a.selector != "" {
		s += " for pods with " + a.selector
	}
	return s
}

// check returns an error for flags that are not allowed.
func (a *pendingOptions) check() error {
	if _, err := labels.Parse(a.selector); err != nil {
		return config.Refusal{Flag: "selector", Value: a.selector, Allowed: fmt.Sprintf("it is not a selector (%v)", err), Next: "write it as for 'kubectl get pods -l', such as app=web,tier!=cache"}
	}
	if a.from.namespace != "" && a.everywhere {
		return errors.New("--namespace and --all-namespaces exclude each other; leave one of them out")
	}
	for _, both := range []struct {
		a, b   bool
		refuse string
	}{
		{a.watch, len(a.from.files) > 0, "--watch and --filename exclude each other; a dump does not change"},
		{a.watch, a.exitCode.about != "", "--watch and --exit-code exclude each other; what is watched has no end"},
		{a.watch, a.output.form == asSummary, "--watch and --output=summary exclude each other; a watch reports pod by pod"},
		{a.watch, a.at != "", "--watch and --at exclude each other; what is watched is now"},
		{a.server != "", len(a.from.files) > 0, "--server and --filename exclude each other; ask the manager or the dump"},
		{a.server != "", a.at != "", "--server and --at exclude each other; the manager describes the present"},
		{a.server != "", a.selector != "", "--server and --selector exclude each other; the manager does not tell labels: name nodes by --node, or leave --server out"},
	} {
		if both.a && both.b {
			return errors.New(both.refuse)
		}
	}
	slices.Sort(a.nodes)
	a.nodes = slices.Compact(a.nodes)
	return errors.Join(a.output.check(), a.from.check())
}

// tell returns the answer with its notes.
func (a *pendingOptions) tell(s *seen, at time.Time) *foresight.Pending {
	pending := s.Pending(at, a.nodes)
	tainted := len(s.Tainted(a.nodes))
	pending.TaintedNodes = &tainted
	pending.Incomplete = slices.Concat(s.unjudged(a.nodes), s.unknownNamespaces(), s.unknownMatches(a.nodes))
	pending.Notes = s.notes()
	switch {
	case s.hidden && s.journal.missing() != "":
		could, all := s.Undecided(a.nodes)
		pending.Undecided, pending.TaintedNodes = &could, nil
		pending.Incomplete = append(pending.Incomplete, fmt.Sprintf("this user may not list nodes, and %s, so it is not known which taints there are: none to %d of %s are scheduled%s; --server asks the manager, and the ClusterRole taint-manager-viewer of deploy/rbac.yaml grants what is missing",
			s.journal.missing(), could, pods(all, "", ""), a.where()))
		return pending
	case s.hidden:
		pending.Notes = append(pending.Notes, "this user may not list nodes, so those taints count that the manager has recorded in its journal")
	case pending.Unsure(), pending.Swapping():
		pending.Notes = append(pending.Notes, s.journal.without()...)
	}
	if pending.Swapping() {
		pending.Notes = append(pending.Notes, foresight.Swapped)
	}
	if pending.AsIfNow() {
		pending.Notes = append(pending.Notes, asIfNow)
	}
	pending.Notes = append(pending.Notes, a.held(s, pending.Trips)...)
	if len(pending.Pods) > 0 {
		pending.Notes = append(pending.Notes, stale(s.Stale(a.nodes, at))...)
	}
	if late := pending.Overdue(overdueAfter); late > 0 {
		pending.Notes = append(pending.Notes, fmt.Sprintf("%s should have gone by now: no manager runs, or something is in the way; --server asks the manager, and 'taint-manager explain POD' tells what its events say", pods(late, "", "")))
	}
	return pending
}
