// Package explain is the command that explains whether, when and why a pod is evicted.
package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/hint"
)

// options are the options of "explain".
type options struct {
	rules  source.RuleFlags
	from   source.Flags
	output answer.Output
	at     string
}

// Command returns the command, which sends userAgent to API servers.
func Command(userAgent string, read source.ReadConfig) *cobra.Command {
	o := &options{rules: source.NewRuleFlags(read), from: source.NewFlags(userAgent)}
	cmd := answer.Command("explain", "Explain whether, when and why a pod is evicted", help, o.flags(), o.run)
	cmd.Args = onePod
	o.from.Complete(cmd, o.output.Forms())
	pods := o.from.Names("pods")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
		cobra.ShellCompDirective,
	) {
		if len(args) > 1 || len(args) == 1 && !namesKind(args[0]) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return pods(cmd, args, typed)
	}
	return cmd
}

func onePod(cmd *cobra.Command, args []string) error {
	if len(args) == 1 || len(args) == 2 && namesKind(args[0]) {
		return nil
	}
	return hint.Add(fmt.Errorf("expected exactly one pod, got %d arguments", len(args)), "Use '%s POD -n NAMESPACE'.",
		cmd.CommandPath())
}

func (o *options) flags() (sections cliflag.NamedFlagSets) {
	fs := sections.FlagSet("explain")
	o.rules.Bind(fs, "eviction-method")
	answer.MomentFlag(fs, &o.at, "Answer as of this time.")
	o.output.Bind(fs)
	o.from.BindNoBudgets(fs)
	o.output.Exit.Bind(fs, "Exit with code 2 if the pod will be evicted.")
	fs.StringVarP(&o.from.Namespace, "namespace", "n", "", "The `NAMESPACE` of the pod. If empty, the namespace of "+
		"the kubeconfig's context; in a dump, any namespace.")
	o.from.Bind(sections.FlagSet("cluster"), sections.FlagSet("journal"))
	return sections
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	at, err := answer.Moment(o.at)
	if err := cmp.Or(o.output.Check(), o.from.Check(o.rules.File), err); err != nil {
		return err
	}
	rules, err := o.rules.Load(cmd)
	if err != nil {
		return err
	}
	s, err := o.scope(args)
	if err != nil {
		return err
	}
	s.Rules, s.Running, s.At = rules, o.rules.Running(cmd), at
	answered, err := o.explain(cmd, s)
	if err != nil {
		return err
	}
	answer.WarnFirst(cmd.ErrOrStderr(), &answered.Remarks)
	return o.output.Print(cmd, answered, func(t *answer.Text) { (&text{answered, t}).all() })
}

// explain asks the cluster or the dump.
func (o *options) explain(cmd *cobra.Command, s *source.Scope) (*foresight.Explanation, error) {
	from, usual, err := o.from.Open(cmd, false)
	if err != nil {
		return nil, err
	}
	s.Focus.Namespace = cmp.Or(s.Focus.Namespace, usual)
	m, err := source.Load(cmd.Context(), from, s)
	if err != nil {
		return nil, err
	}
	return m.Explain(s.Focus.Namespace, s.Pod, m.At())
}

// scope returns the pod that the arguments name: POD, NAMESPACE/POD or, as for kubectl, pod/POD and pod POD. If the
// arguments name no namespace, --namespace does.
func (o *options) scope(args []string) (*source.Scope, error) {
	written, namespace := args[len(args)-1], o.from.Namespace
	first, name, two := strings.Cut(written, "/")
	switch {
	case written == "" || two && (first == "" || name == "" || strings.Contains(name, "/")):
		return nil, fmt.Errorf("invalid pod %q: must be POD or NAMESPACE/POD", written)
	case !two:
		name = written
	case len(args) == 1 && namesKind(first):
	case namespace != "" && namespace != first:
		return nil, fmt.Errorf("the namespace of %s does not match --namespace=%s", written, namespace)
	default:
		namespace = first
	}
	return &source.Scope{Pod: name, Focus: foresight.Focus{Namespace: namespace}, NoBudgets: o.from.NoBudgets}, nil
}

// namesKind reports whether a word is one of kubectl's names of the kind Pod, in any letter case.
func namesKind(word string) bool {
	return slices.Contains([]string{"pod", "pods", "po"}, strings.ToLower(word))
}
