// Package explain is the command that explains what becomes of one pod.
package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// options are those of "explain".
type options struct {
	rules  source.RuleFlags
	from   source.Flags
	output answer.Output
	at     string
	server string
}

// Command returns the command. It ends with ctx, and sends userAgent to API servers.
func Command(ctx context.Context, userAgent string, read source.ReadConfig) *cobra.Command {
	o := &options{rules: source.NewRuleFlags(read), from: source.NewFlags(userAgent)}
	cmd := answer.Command("explain", help, o.flags(), func(cmd *cobra.Command, args []string) error {
		return o.run(ctx, cmd, args[0])
	})
	cmd.Args = onePod
	o.from.Complete(ctx, cmd)
	source.Complete(cmd, "output", o.output.Forms())
	pods := o.from.PodNames(ctx)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
		cobra.ShellCompDirective,
	) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return pods(cmd, args, typed)
	}
	return cmd
}

func onePod(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("explain takes one pod, got %d; write '%s POD -n NAMESPACE'", len(args), cmd.CommandPath())
}

func (o *options) flags() (sections cliflag.NamedFlagSets) {
	fs := sections.FlagSet("explain")
	o.rules.Bind(fs, "eviction-method")
	answer.MomentFlag(fs, &o.at, "The moment of the question:")
	o.output.Bind(fs)
	fs.StringVar(&o.server, "server", "", "Ask the manager, too, at the `URL` of its --status-address, such as "+
		"http://127.0.0.1:8080 after kubectl port-forward: it knows the state of the eviction, its attempts, their "+
		"outcome, and when it tries again.")
	o.output.Exit.Bind(fs, "Exit with 2 when the pod is to go.")
	fs.StringVarP(&o.from.Namespace, "namespace", "n", "", "`NAMESPACE` of the pod. If empty, that of the "+
		"kubeconfig's context; in a dump, any.")
	o.from.Bind(sections.FlagSet("cluster"), sections.FlagSet("journal"))
	return sections
}

func (o *options) run(ctx context.Context, cmd *cobra.Command, pod string) error {
	at, err := o.check()
	if err != nil {
		return err
	}
	rules, err := o.rules.Load(cmd)
	if err != nil {
		return err
	}
	namespace, name, err := o.podOf(pod)
	if err != nil {
		return err
	}
	from, usual, err := o.from.Open(cmd, false)
	if err != nil {
		return err
	}
	m, err := source.Load(ctx, from, &source.Scope{
		Rules: rules, Focus: foresight.Focus{Namespace: cmp.Or(namespace, usual)}, Pod: name, At: at,
	})
	if err != nil {
		return err
	}
	explained, err := m.Explain(cmp.Or(namespace, usual), name, m.At())
	if err != nil {
		return err
	}
	if err := o.askManager(ctx, explained); err != nil {
		return err
	}
	return o.output.Print(cmd, explained, func(t *answer.Text) { (&text{explained, t}).all() })
}

// askManager adds the manager's state of the pod, if the manager is to be asked.
func (o *options) askManager(ctx context.Context, e *foresight.Explanation) error {
	if o.server == "" {
		return nil
	}
	manager, err := source.NewManager(o.server)
	if err != nil {
		return err
	}
	return manager.Complete(ctx, e)
}

// check returns an error for flags that are not allowed; otherwise the moment of the question.
func (o *options) check() (time.Time, error) {
	switch err := cmp.Or(o.output.Check(), o.from.Check()); {
	case err != nil:
		return time.Time{}, err
	case o.server != "" && o.from.Dumped():
		return time.Time{}, errors.New("--server and --filename exclude each other; a manager describes the cluster, " +
			"not the dump")
	case o.server != "" && o.at != "":
		return time.Time{}, errors.New("--server and --at exclude each other; the manager describes the present")
	}
	return answer.Moment(o.at)
}

// podOf parses POD, pod/POD or NAMESPACE/POD. The namespace is empty if the argument has none.
func (o *options) podOf(pod string) (namespace, name string, err error) {
	first, second, two := strings.Cut(pod, "/")
	switch {
	case pod == "" || two && (first == "" || second == "" || strings.Contains(second, "/")):
		return "", "", fmt.Errorf("%q names no pod; write POD, or NAMESPACE/POD", pod)
	case !two:
		return "", pod, nil
	case slices.Contains([]string{"pod", "pods", "po"}, first):
		return "", second, nil
	case o.from.Namespace != "" && o.from.Namespace != first:
		return "", "", fmt.Errorf("%s is not in the namespace of --namespace=%s; leave one out", pod, o.from.Namespace)
	}
	return first, second, nil
}
