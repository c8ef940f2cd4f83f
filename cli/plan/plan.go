// Package plan is the command that shows what would be evicted if nodes were tainted.
package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/hint"
)

// options are the options of "plan".
type options struct {
	rules    source.RuleFlags
	from     source.Flags
	output   answer.Output
	nodes    []string
	allNodes bool
	selector string
	taints   []string
	compare  string // another configuration file
	at       string
	anyway   bool

	deviceRule   string
	deviceTaints []string
}

// Command returns the command, which sends userAgent to API servers.
func Command(userAgent string, read source.ReadConfig) *cobra.Command {
	o := &options{rules: source.NewRuleFlags(read), from: source.NewFlags(userAgent)}
	cmd := answer.Command("plan", "Show what would be evicted if nodes or devices were tainted", help, o.flags(), o.run)
	o.from.Complete(cmd, o.output.Forms())
	return cmd
}

func (o *options) flags() (sections cliflag.NamedFlagSets) {
	fs := sections.FlagSet("plan")
	fs.StringSliceVar(&o.nodes, "node", nil, "The `NODE` to taint. Can be repeated or comma-separated.")
	fs.BoolVar(&o.allNodes, "all-nodes", false, "Taint all nodes.")
	fs.StringVarP(&o.selector, "selector", "l", "", "Taint the nodes that match this label `SELECTOR`, as in "+
		"\"kubectl get nodes -l\".")
	fs.StringSliceVar(&o.taints, "taint", nil,
		"The `TAINT` to set (KEY[=VALUE]:EFFECT) or to remove (KEY:EFFECT- or KEY-). Can be repeated or comma-separated.")
	flags.FileVar(fs, &o.deviceRule, "device-rule", "Taint devices in place of nodes, by the DeviceTaintRule in this "+
		"`FILE`; \"-\" is standard input.")
	fs.StringSliceVar(&o.deviceTaints, "device-taint", nil, "Taint a device, such as a GPU, in place of nodes. The `TAINT` is "+
		"DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT, as named in the ResourceSlice object that lists "+
		"the device. Can be repeated or comma-separated.")
	o.rules.Bind(fs, "eviction-method")
	answer.MomentFlag(fs, &o.at, "The time at which the nodes are tainted.")
	o.output.Bind(fs, answer.AsSummary)
	o.output.BindNoHeaders(fs)
	fs.BoolVar(&o.anyway, "anyway", false, "Also list pods on other nodes that are already scheduled for eviction.")
	o.from.BindNoBudgets(fs)
	o.output.Exit.Bind(fs, "Exit with code 2 if the change causes an eviction or makes one earlier. "+
		"With --exit-code=any, also if any pod is already scheduled for eviction.", "any")
	fs.StringVarP(&o.from.Namespace, "namespace", "n", "", "Show only pods in this `NAMESPACE`.")
	fs.BoolVarP(&o.from.Everywhere, "all-namespaces", "A", false, "Show pods in all namespaces. This is the "+
		"default, because the pods of a node are in many namespaces.")
	flags.FileVar(fs, &o.compare, "compare", "Compare --config (new) with this `FILE` (old). Without --taint, the nodes' "+
		"current taints are used.")
	o.from.Bind(sections.FlagSet("cluster"), sections.FlagSet("journal"))
	return sections
}

func (o *options) run(cmd *cobra.Command, _ []string) error {
	question, err := o.question(cmd.InOrStdin())
	if err != nil {
		return err
	}
	scope, err := o.scope(cmd, &question)
	if err != nil {
		return err
	}
	from, _, err := o.from.Open(cmd, true)
	if err != nil {
		return err
	}
	plan, err := ask(cmd.Context(), from, scope, question)
	if err != nil {
		return err
	}
	answer.WarnFirst(cmd.ErrOrStderr(), &plan.Remarks)
	return o.output.Print(cmd, plan, func(t *answer.Text) {
		(&text{plan, t, o.anyway, source.FileName(o.rules.File)}).all()
	})
}

// ask reads the cluster and computes the plan.
func ask(ctx context.Context, from source.Source, s *source.Scope, q foresight.Question) (*foresight.Plan, error) {
	m, err := source.Load(ctx, from, s)
	if err != nil {
		return nil, err
	}
	q.At = m.At()
	plan, err := m.Plan(q)
	return plan, source.WithHint(err, from)
}

// scope reads the configuration files, and returns what the question needs.
func (o *options) scope(cmd *cobra.Command, q *foresight.Question) (*source.Scope, error) {
	at, err := answer.Moment(o.at)
	if o.compare != "" && o.rules.File == "" {
		err = errors.New("--compare requires --config, which is the new file")
	}
	if err := cmp.Or(err, o.from.Check(o.rules.File, o.compare), o.output.Check()); err != nil {
		return nil, err
	}
	other := o.rules // copied before Load sets the settings of --config
	rules, err := o.rules.Load(cmd)
	s := &source.Scope{
		Rules: rules, Running: o.rules.Running(cmd), At: at, NoBudgets: o.from.NoBudgets, Devices: q.Devices != nil,
		Focus: foresight.Focus{Namespace: o.from.Namespace, Nodes: &q.Selection},
	}
	if o.compare == "" || err != nil {
		return s, err
	}
	other.File = o.compare
	compared, err := other.Load(cmd)
	s.Compared, q.Compare, q.Compared = &compared, &compared, source.FileName(o.compare)
	return s, err
}

func (o *options) selection() (s foresight.Selection, err error) {
	named, labelled := len(o.nodes) > 0, o.selector != ""
	switch {
	case named && labelled, o.allNodes && (named || labelled):
		return s, errors.New("only one of --node, --selector and --all-nodes can be used")
	case named:
		slices.Sort(o.nodes)
		s.Names = slices.Compact(o.nodes)
	case labelled:
		s.Selector, err = source.Selector(o.selector, "'kubectl get nodes -l', such as zone=a,disk!=ssd")
	case o.allNodes, o.compare != "" && len(o.taints) == 0:
		s.Selector = labels.Everything()
	default:
		err = hint.Add(errors.New("no nodes selected"), "Use --node=NODE, --selector=SELECTOR or --all-nodes.")
	}
	return s, err
}

func (o *options) changes() ([]foresight.Change, error) {
	var changes []foresight.Change
	for _, written := range o.taints {
		change, err := foresight.ParseChange(written)
		if err != nil {
			return nil, hint.Add(flags.Invalid("taint", written, err.Error()),
				"Use KEY[=VALUE]:EFFECT to set a taint, KEY:EFFECT- to remove it, or KEY- to remove all taints with this key.")
		}
		changes = append(changes, change)
	}
	switch {
	case len(changes) > 0:
		if err := foresight.Contradiction(changes); err != nil {
			return nil, fmt.Errorf("invalid --taint: %w", err)
		}
	case o.compare == "":
		return nil, hint.Add(errors.New("no taint specified"), "Use --taint=KEY[=VALUE]:EFFECT.")
	}
	return changes, nil
}
