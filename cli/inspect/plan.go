package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/foresight"
)

// planOptions are the options of "plan".
type planOptions struct {
	judging

	nodes      []string
	allNodes   bool
	selector   string
	taints     []string
	from       sourceFlags
	everywhere bool
	compare    string // another configuration file
	at         string
	output     output
	exitCode   exitCode
}

func planCommand(ctx context.Context, at kube, read ReadConfig) *cobra.Command {
	p := &planOptions{judging: newJudging(read), from: sourceFlags{kube: at}}
	sections := p.flags()
	cmd := &cobra.Command{
		Use:  "plan",
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(ctx, cmd) },
	}
	for _, section := range sections.FlagSets {
		cmd.Flags().AddFlagSet(section)
	}
	cmd.SetHelpFunc(terminal.SectionedHelp(planHelp, sections))
	p.complete(ctx, cmd)
	return cmd
}

func (p *planOptions) flags() cliflag.NamedFlagSets {
	var sections cliflag.NamedFlagSets
	fs := sections.FlagSet("plan")
	fs.StringSliceVar(&p.nodes, "node", nil, "`NODE` that gets the taints. May be given several times, or with commas.")
	fs.BoolVar(&p.allNodes, "all-nodes", false, "All nodes get the taints.")
	fs.StringVarP(&p.selector, "selector", "l", "", "Labels of the nodes that get the taints: `SELECTOR` as in kubectl get nodes -l.")
	fs.StringSliceVar(&p.taints, "taint", nil,
		"`TAINT` as kubectl taint --overwrite takes it: KEY[=VALUE]:EFFECT to set, KEY:EFFECT- or KEY- to remove. May be given several times.")
	p.judging.flags(fs, "eviction-method")
	addMomentFlag(fs, &p.at, "When the nodes get the taints:")
	p.output.flags(fs, asTable, asWide, asSummary, asJSON, asYAML, asName, asPath)
	p.exitCode.flag(fs, true, "Exit with 2 when some pod would go, or go sooner, because of the change; with --exit-code=any, when any pod is to go, on any node.")
	fs.StringVarP(&p.from.namespace, "namespace", "n", "", "Only the pods of `NAMESPACE`.")
	fs.BoolVarP(&p.everywhere, "all-namespaces", "A", false, "The pods of all namespaces, as without --namespace.")
	fs.StringVar(&p.compare, "compare", "", "Say what the file of --config would change beside this configuration `FILE`: the same question, asked under both. Without --taint, about the cluster as it is.")
	p.from.flags(sections.FlagSet("cluster"))
	p.from.journalLocation.flags(sections.FlagSet("journal"))
	sections.FlagSet("other").BoolP("help", "h", false, "print this help")
	return sections
}

func (p *planOptions) run(ctx context.Context, cmd *cobra.Command) error {
	question, err := p.question()
	if err != nil {
		return err
	}
	if err := p.loadBoth(cmd, &question); err != nil {
		return err
	}
	from, err := p.from.open(cmd, true)
	if err != nil {
		return err
	}
	plan, err := p.ask(ctx, question, from, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := printPlan(cmd.OutOrStdout(), plan, p.output.style(cmd)); err != nil {
		return err
	}
	if err := cannotSay(plan.Incomplete); err != nil {
		return err
	}
	return p.exitCode.of(plan.Total.Evict, plan.Total.Evict+plan.Total.Anyway+plan.Total.Elsewhere)
}

// question returns the question that the flags ask. Its time is zero if there is none.
func (p *planOptions) question() (q foresight.Question, err error) {
	if q.Selection, err = p.selection(); err != nil {
		return q, err
	}
	if q.Changes, err = p.changes(); err != nil {
		return q, err
	}
	if q.At, err = moment(p.at); err != nil {
		return q, err
	}
	if err := p.from.check(); err != nil {
		return q, err
	}
	if p.from.namespace != "" && p.everywhere {
		return q, errors.New("--namespace and --all-namespaces exclude each other; leave one of them out")
	}
	return q, p.output.check()
}

// loadBoth reads the configuration files.
func (p *planOptions) loadBoth(cmd *cobra.Command, q *foresight.Question) error {
	if err := p.load(cmd); err != nil {
		return err
	}
	q.Method = string(p.settings.EvictionMethod)
	if p.compare == "" {
		return nil
	}
	if p.file == "" {
		return errors.New("--compare needs --config; name the new file there")
	}
	other := newJudging(p.read)
	other.file, other.settings = p.compare, p.settings
	if err := other.load(cmd); err != nil {
		return err
	}
	q.Compare, q.Compared = &other.basis, p.compare
	return nil
}

func (p *planOptions) selection() (foresight.Selection, error) {
	switch {
	case p.allNodes && (len(p.nodes) > 0 || p.selector != ""):
		return foresight.Selection{}, errors.New("--all-nodes and --node or --selector exclude each other; leave one of them out")
	case p.allNodes:
		return foresight.Selection{Selector: labels.Everything()}, nil
	case len(p.nodes) > 0 && p.selector != "":
		return foresight.Selection{}, errors.New("--node and --selector exclude each other; name the nodes, or select them by labels")
	case len(p.nodes) > 0:
		slices.Sort(p.nodes)
		return foresight.Selection{Names: slices.Compact(p.nodes)}, nil
	case p.selector == "" && p.compare != "" && len(p.taints) == 0:
		return foresight.Selection{Selector: labels.Everything()}, nil
	case p.selector == "":
		return foresight.Selection{}, errors.New("there is no node; name some with --node=NODE, or select them by labels with -l SELECTOR, or all with --all-nodes")
	}
	selector, err := labels.Parse(p.selector)
	if err != nil {
		return foresight.Selection{}, config.Refusal{Flag: "selector", Value: p.selector, Allowed: fmt.Sprintf("it is not a selector (%v)", err), Next: "write it as for 'kubectl get nodes -l', such as zone=a,disk!=ssd"}
	}
	return foresight.Selection{Selector: selector}, nil
}

func (p *planOptions) changes() ([]foresight.Change, error) {
	var changes []foresight.Change
	for _, written := range p.taints {
		change, err := foresight.ParseChange(written)
		if err != nil {
			return nil, fmt.Errorf("--taint=%s is refused: %w", written, err)
		}
		changes = append(changes, change)
	}
	if len(changes) == 0 && p.compare != "" {
		return nil, nil
	}
	if len(changes) == 0 {
		return nil, errors.New("there is no taint; give one with --taint=KEY[=VALUE]:EFFECT")
	}
	if err := foresight.Contradiction(changes); err != nil {
		return nil, fmt.Errorf("--taint is refused: %w", err)
	}
	return changes, nil
}

// ask reads the cluster and computes the plan. It writes notes about the answer to notes.
func (p *planOptions) ask(ctx context.Context, q foresight.Question, from source, notes io.Writer) (*foresight.Plan, error) {
	model := foresight.NewModel(p.basis, foresight.Focus{Namespace: p.from.namespace, Nodes: &q.Selection})
	s, err := see(ctx, from, query{namespaces: p.basis.Needs().NamespaceLabels || q.Compare != nil && q.Compare.Needs().NamespaceLabels, namespace: p.from.namespace, budgets: true, needed: p.settings.EvictionMethod == config.MethodEvict}, model, q.At)
	if err != nil {
		return nil, p.refused(err, model.Nodes(), from)
	}
	q.At = s.at
	plan, err := model.Plan(q)
	if err != nil {
		return nil, p.refused(err, model.Nodes(), from)
	}
	if plan.Unsure() {
		plan.Notes = append(plan.Notes, s.journal.without()...)
	}
	if plan.AsIfNow() {
		plan.Notes = append(plan.Notes, asIfNow)
	}
	plan.Notes = append(plan.Notes, p.held(&s, plan.Trips)...)
	plan.Notes = append(plan.Notes, stale(model.Stale(nil, q.At))...)
	plan.Notes = append(plan.Notes, s.notes()...)
	plan.Incomplete = append(s.unjudged(q.Names), s.unknownNamespaces()...)
	for _, n := range plan.Notes {
		note(notes, n)
	}
	return plan, nil
}

// note writes a note, beside the answer.
func note(w io.Writer, s string) { _, _ = fmt.Fprintf(w, "Note: %s.\n", terminal.Escape(s)) }

// isMisfit reports whether an error is about the question, and not about reading.
func isMisfit(err error) bool {
	return errors.As(err, new(*foresight.NoNodeError)) || errors.As(err, new(*foresight.AbsentError)) ||
		errors.As(err, new(*foresight.TwiceError)) || errors.As(err, new(*foresight.UnknownNodesError))
}

// refused adds the next step to an error about a question that does not fit the cluster.
func (p *planOptions) refused(err error, nodes []string, from source) error {
	switch {
	case !isMisfit(err):
		return err
	case len(nodes) == 0:
		return fmt.Errorf("%s has no nodes; %s", from, from.hint("get nodes"))
	case errors.As(err, new(*foresight.NoNodeError)):
		return fmt.Errorf("%w in %s; %s", err, from, from.hint("get nodes --show-labels"))
	case errors.As(err, new(*foresight.AbsentError)):
		return fmt.Errorf("%w in %s; %s", err, from, from.hint("describe nodes"))
	case errors.As(err, new(*foresight.TwiceError)):
		return fmt.Errorf("%w in %s; give what was written at one moment", err, from)
	}
	hint := ""
	if unknown, ok := errors.AsType[*foresight.UnknownNodesError](err); ok {
		hint = suggest.Nearest(unknown.Names[0], nodes)
	}
	return fmt.Errorf("%w in %s%s; %s", err, from, hint, from.hint("get nodes"))
}
