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

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/foresight"
)

// pendingOptions is all that can be set on "pending".
type pendingOptions struct {
	nodes      []string
	selector   string
	from       sourceFlags
	everywhere bool
	settings   config.Configuration // of the manager
	at         string
	output     string
	watch      bool
	server     string
}

func pendingCommand(ctx context.Context, at kube) *cobra.Command {
	a := &pendingOptions{settings: config.Default(), from: sourceFlags{kube: at}}
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
	fs.StringVar(&a.server, "server", "", "Ask the manager itself, at the `URL` of its --status-address, such as http://127.0.0.1:8080 after kubectl port-forward. It also knows what is blocked, held or in flight, and when it tries again.")
	flags.BindJudging(fs, &a.settings)
	addMomentFlag(fs, &a.at, "The moment of the question:")
	addOutputFlag(fs, &a.output)
	a.from.flags(sections.FlagSet("cluster"))
	a.from.journalLocation.flags(sections.FlagSet("journal"))
	sections.FlagSet("other").BoolP("help", "h", false, "print this help")
	return sections
}

func (a *pendingOptions) run(ctx context.Context, cmd *cobra.Command) error {
	if err := a.check(); err != nil {
		return err
	}
	from, err := a.open(cmd)
	if err != nil {
		return err
	}
	if a.watch {
		return a.follow(ctx, cmd, from)
	}
	pending, err := from.pending(ctx)
	if err != nil {
		return err
	}
	for _, n := range pending.Notes {
		note(cmd.ErrOrStderr(), n)
	}
	return a.print(cmd, pending)
}

func (a *pendingOptions) print(cmd *cobra.Command, pending *foresight.Pending) error {
	if len(pending.Pods) == 0 && pending.Undecided == nil {
		_, _ = fmt.Fprintln(cmd.ErrOrStderr(), a.calm(pending))
	}
	return printPending(cmd.OutOrStdout(), pending, a.output, a.everywhere)
}

// calm is the answer where nothing is scheduled.
func (a *pendingOptions) calm(p *foresight.Pending) string {
	s := "No eviction is scheduled" + a.where()
	switch tainted := p.TaintedNodes; {
	case tainted == nil:
		return s + "."
	case *tainted == 0 && len(a.nodes) == 0:
		return s + ": no node carries a NoExecute taint."
	case *tainted == 0:
		return s + ": no NoExecute taint is there."
	case *tainted == 1:
		return s + ": its pods bear the taints of the one node that carries some."
	}
	return s + fmt.Sprintf(": its pods bear the taints of the %d nodes that carry some.", *p.TaintedNodes)
}

// where ends a sentence with what was asked for.
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

// check refuses flags.
func (a *pendingOptions) check() error {
	if _, err := labels.Parse(a.selector); err != nil {
		return config.Refusal{Flag: "selector", Value: a.selector, Allowed: fmt.Sprintf("it is no selector (%v)", err), Next: "write it as for 'kubectl get pods -l', such as app=web,tier!=cache"}
	}
	if a.from.namespace != "" && a.everywhere {
		return errors.New("--namespace and --all-namespaces exclude each other; leave one of them out")
	}
	for _, both := range []struct {
		a, b   bool
		refuse string
	}{
		{a.watch, a.from.file != "", "--watch and --filename exclude each other; a dump does not change"},
		{a.watch, a.at != "", "--watch and --at exclude each other; what is watched is now"},
		{a.server != "", a.from.file != "", "--server and --filename exclude each other; ask the manager or the dump"},
		{a.server != "", a.at != "", "--server and --at exclude each other; the manager tells of now"},
		{a.server != "", a.selector != "", "--server and --selector exclude each other; the manager does not tell labels: name nodes by --node, or leave --server out"},
	} {
		if both.a && both.b {
			return errors.New(both.refuse)
		}
	}
	slices.Sort(a.nodes)
	a.nodes = slices.Compact(a.nodes)
	return errors.Join(checkOutput(a.output), a.from.check())
}

// forecaster says what is scheduled.
type forecaster interface {
	pending(ctx context.Context) (*foresight.Pending, error)
}

// open finds the manager, the dump or the cluster.
func (a *pendingOptions) open(cmd *cobra.Command) (forecaster, error) {
	now, err := a.clock()
	if err != nil {
		return nil, err
	}
	if a.from.file != "" {
		a.everywhere = a.everywhere || a.from.namespace == ""
		return dumpedForecast{a, dumped{file: a.from.file, in: cmd.InOrStdin(), messages: cmd.ErrOrStderr()}, now}, nil
	}
	if a.server != "" {
		if err := a.fillNamespace(); err != nil {
			return nil, err
		}
		return newStatusClient(a)
	}
	to, err := a.from.reach()
	if err != nil {
		return nil, err
	}
	if a.from.namespace == "" && !a.everywhere {
		a.from.namespace = to.namespace
	}
	return liveForecast{to, a, now, cmd.ErrOrStderr()}, nil
}

// fillNamespace takes the namespace of the context, where there is one.
func (a *pendingOptions) fillNamespace() error {
	if a.everywhere || a.from.namespace != "" {
		return nil
	}
	loader := a.from.loader()
	namespace, _, err := loader.Namespace()
	if err != nil {
		return a.from.unusable(loader, err)
	}
	a.from.namespace = namespace
	return nil
}

// clock tells the moment of the question whenever it is asked.
func (a *pendingOptions) clock() (func() time.Time, error) {
	if a.at == "" {
		return func() time.Time { return time.Now().Round(0) }, nil
	}
	at, err := moment(a.at)
	return func() time.Time { return at }, err
}
