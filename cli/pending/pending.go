// Package pending is the command that lists scheduled evictions.
package pending

import (
	"errors"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/hint"
)

// options are the options of "pending".
type options struct {
	rules    source.RuleFlags
	from     source.Flags
	output   answer.Output
	nodes    []string
	selector string
	labels   labels.Selector // of selector
	at       string
	watch    bool
	wait     bool
	timeout  time.Duration
	server   string
}

// Command returns the command, which sends userAgent to API servers.
func Command(userAgent string, read source.ReadConfig) *cobra.Command {
	o := &options{rules: source.NewRuleFlags(read), from: source.NewFlags(userAgent)}
	cmd := answer.Command("pending", "List scheduled evictions", help, o.flags(), o.run)
	o.from.Complete(cmd, o.output.Forms())
	return cmd
}

func (o *options) flags() (sections cliflag.NamedFlagSets) {
	fs := sections.FlagSet("pending")
	fs.StringVarP(&o.from.Namespace, "namespace", "n", "", "Show only pods in this `NAMESPACE`. If empty, the "+
		"namespace of the kubeconfig's context; in a dump or with --wait, all namespaces.")
	fs.BoolVarP(&o.from.Everywhere, "all-namespaces", "A", false, "Show pods in all namespaces.")
	fs.StringSliceVar(&o.nodes, "node", nil, "Show only pods on this `NODE`. Can be repeated or comma-separated.")
	fs.StringVarP(&o.selector, "selector", "l", "", "Show only pods that match this label `SELECTOR`, as in "+
		"\"kubectl get pods -l\".")
	fs.BoolVarP(&o.watch, "watch", "w", false, "Keep updating the list until Ctrl-C. Requires a "+
		"terminal. Evictions caused by device taints are not shown.")
	fs.BoolVar(&o.wait, "wait", false, "Wait until no evictions remain on the nodes given by --node, in all "+
		"namespaces unless --namespace is set. Prints a line when a pod becomes held, blocked or overdue (10s after its "+
		"deadline). Ends after 10s in a row in which no pod was terminating or waiting for eviction.")
	fs.DurationVar(&o.timeout, "timeout", 0, "With --wait, give up after this `DURATION`, such as 10m, and exit with "+
		"code 2. 0 means no timeout.")
	flags.URLVar(fs, &o.server, "server", "Ask the running taint-manager at the `URL` of its --status-address, such as "+
		"http://127.0.0.1:8080 after \"kubectl port-forward\".")
	o.rules.Bind(fs)
	answer.MomentFlag(fs, &o.at, "Answer as of this time.")
	o.output.Bind(fs, answer.AsSummary)
	o.output.BindNoHeaders(fs)
	o.output.Exit.Bind(fs, "Exit with code 2 if an eviction is scheduled.")
	o.from.Bind(sections.FlagSet("cluster"), sections.FlagSet("journal"))
	return sections
}

func (o *options) run(cmd *cobra.Command, _ []string) error {
	if err := o.check(); err != nil {
		return err
	}
	rules, err := o.rules.Load(cmd)
	if err != nil {
		return err
	}
	if o.watch && (!terminal.OnTerminal(cmd.OutOrStdout()) || os.Getenv("TERM") == "dumb") {
		return hint.Add(errors.New("--watch requires a terminal"),
			"Without a terminal, run 'taint-manager pending -o json' periodically.")
	}
	if o.watch || o.wait {
		return o.follow(cmd, rules)
	}
	pending, err := o.ask(cmd, rules)
	if err != nil {
		return err
	}
	answer.WarnFirst(cmd.ErrOrStderr(), &pending.Remarks)
	if len(pending.Pods) == 0 && pending.CannotSay() == nil {
		answer.Say(cmd.ErrOrStderr(), emptyMessage(pending))
	}
	return o.output.Print(cmd, pending, func(t *answer.Text) { write(t, pending) })
}

// ask gets the scheduled evictions from the manager, or computes them.
func (o *options) ask(cmd *cobra.Command, rules foresight.Ruleset) (*foresight.Pending, error) {
	if o.server != "" {
		manager, namespace, err := o.manager()
		if err != nil {
			return nil, err
		}
		return manager.Pending(cmd.Context(), namespace, o.nodes)
	}
	at, err := answer.Moment(o.at)
	if err != nil {
		return nil, err
	}
	from, namespace, err := o.from.Open(cmd, o.from.Everywhere)
	if err != nil {
		return nil, err
	}
	s := o.scope(cmd, rules, namespace)
	s.Focus.Nodes, s.At = &foresight.Selection{Names: o.nodes}, at
	m, err := source.Load(cmd.Context(), from, s)
	if err != nil {
		return nil, err
	}
	return m.Pending(m.At(), o.nodes), nil
}

// scope returns what to read in a namespace.
func (o *options) scope(cmd *cobra.Command, rules foresight.Ruleset, namespace string) *source.Scope {
	return &source.Scope{
		Rules: rules, Running: o.rules.Running(cmd), Focus: foresight.Focus{Namespace: namespace, Labels: o.labels},
		Nodes: o.nodes, Scheduled: true, AllPods: o.wait, Devices: !o.watch && !o.wait,
	}
}

// manager returns the manager, which needs no kubeconfig, and the namespace to show: that of the flag or, unless the
// command waits, that of the kubeconfig's context. Empty stands for all.
func (o *options) manager() (m *source.Manager, namespace string, err error) {
	namespace = o.from.Namespace
	if namespace == "" && !o.from.Everywhere && !o.wait {
		if namespace, err = o.from.ContextNamespace(); err != nil {
			return nil, "", err
		}
	}
	m, err = source.NewManager(o.server)
	return m, namespace, err
}

// check returns an error for flags that are not allowed.
func (o *options) check() (err error) {
	if o.labels, err = source.Selector(o.selector, "'kubectl get pods -l', such as app=web,tier!=cache"); err != nil {
		return err
	}
	follows, following := o.watch || o.wait, "--watch"
	if o.wait {
		following = "--wait"
	}
	for _, both := range []struct {
		a, b   bool
		refuse string
	}{
		{o.wait, o.watch, "--wait and --watch cannot be used together, because --wait also prints what holds it up"},
		{o.wait, len(o.nodes) == 0, "--wait requires --node"},
		{follows, o.from.Dumped(), following + " and --filename cannot be used together, because a dump does not change"},
		{follows, o.at != "", following + " and --at cannot be used together, because " + following + " starts now"},
		{follows, o.output.Exit.Given(), following + " and --exit-code cannot be used together, because " +
			"--watch does not end, and with --wait the code 2 means that --timeout has passed"},
		{
			follows, o.output.Form != answer.AsTable && o.output.Form != answer.AsWide,
			following + " supports only --output=table and --output=wide",
		},
		{o.timeout != 0, !o.wait, "--timeout requires --wait"},
		{o.timeout < 0, true, "--timeout must be positive, such as 10m, or 0 for no timeout"},
		{o.server != "", o.from.Dumped(), "--server and --filename cannot be used together"},
		{o.server != "", o.at != "", "--server and --at cannot be used together, because the manager describes the present"},
		{o.server != "", o.selector != "", "--server and --selector cannot be used together, because the manager " +
			"does not report labels"},
	} {
		if both.a && both.b {
			return errors.New(both.refuse)
		}
	}
	slices.Sort(o.nodes)
	o.nodes = slices.Compact(o.nodes)
	return errors.Join(o.output.Check(), o.from.Check(o.rules.File))
}
