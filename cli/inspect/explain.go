package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/foresight"
)

// explainOptions are the options of "explain".
type explainOptions struct {
	judging

	from     sourceFlags
	at       string
	output   output
	exitCode exitCode
	server   string
}

func explainCommand(ctx context.Context, at kube, read ReadConfig) *cobra.Command {
	e := &explainOptions{judging: newJudging(read), from: sourceFlags{kube: at}}
	sections := e.flags()
	cmd := &cobra.Command{
		Use:  "explain",
		Args: onePod,
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(ctx, cmd, args[0]) },
	}
	for _, section := range sections.FlagSets {
		cmd.Flags().AddFlagSet(section)
	}
	cmd.SetHelpFunc(terminal.SectionedHelp(explainHelp, sections))
	e.complete(ctx, cmd)
	return cmd
}

func onePod(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("explain takes one pod, got %d; write '%s POD -n NAMESPACE'", len(args), cmd.CommandPath())
}

func (e *explainOptions) flags() cliflag.NamedFlagSets {
	var sections cliflag.NamedFlagSets
	fs := sections.FlagSet("explain")
	e.judging.flags(fs, "eviction-method")
	addMomentFlag(fs, &e.at, "The moment of the question:")
	e.output.flags(fs, asTable, asWide, asJSON, asYAML, asName, asPath)
	fs.StringVar(&e.server, "server", "", "Ask the manager, too, at the `URL` of its --status-address, such as http://127.0.0.1:8080 after kubectl port-forward: it knows the state of the eviction, its attempts, their outcome, and when it tries again.")
	e.exitCode.flag(fs, false, "Exit with 2 when the pod is to go.")
	fs.StringVarP(&e.from.namespace, "namespace", "n", "", "`NAMESPACE` of the pod. If empty, that of the kubeconfig's context; in a dump, any.")
	e.from.flags(sections.FlagSet("cluster"))
	e.from.journalLocation.flags(sections.FlagSet("journal"))
	sections.FlagSet("other").BoolP("help", "h", false, "print this help")
	return sections
}

func (e *explainOptions) run(ctx context.Context, cmd *cobra.Command, pod string) error {
	at, err := e.check()
	if err != nil {
		return err
	}
	if err := e.load(cmd); err != nil {
		return err
	}
	namespace, name, err := e.named(pod)
	if err != nil {
		return err
	}
	e.from.namespace = namespace
	from, err := e.from.open(cmd, false)
	if err != nil {
		return err
	}
	explained, err := e.explain(ctx, from, query{namespaces: e.basis.Needs().NamespaceLabels, allNodes: e.basis.Guarded(), namespace: e.from.namespace, pod: name, budgets: true}, at)
	if err != nil {
		return err
	}
	if e.server != "" {
		if err := e.askManager(ctx, explained); err != nil {
			return err
		}
	}
	for _, n := range explained.Notes {
		note(cmd.ErrOrStderr(), n)
	}
	if err := printExplanation(cmd.OutOrStdout(), explained, e.output.style(cmd)); err != nil {
		return err
	}
	if err := cannotSay(explained.Incomplete); err != nil {
		return err
	}
	goes := 0
	if explained.Prediction != nil && explained.Prediction.Evict {
		goes = 1
	}
	return e.exitCode.of(goes, goes)
}

// check returns an error for flags that are not allowed; otherwise the moment of the question.
func (e *explainOptions) check() (time.Time, error) {
	if err := e.output.check(); err != nil {
		return time.Time{}, err
	}
	if err := e.from.check(); err != nil {
		return time.Time{}, err
	}
	switch {
	case e.server != "" && len(e.from.files) > 0:
		return time.Time{}, errors.New("--server and --filename exclude each other; a manager describes the cluster, not the dump")
	case e.server != "" && e.at != "":
		return time.Time{}, errors.New("--server and --at exclude each other; the manager describes the present")
	}
	return moment(e.at)
}

// explain computes the explanation from the API and the journal.
func (e *explainOptions) explain(ctx context.Context, from source, q query, at time.Time) (*foresight.Explanation, error) {
	model := foresight.NewModel(e.basis, foresight.Focus{})
	s, err := see(ctx, from, q, model, at)
	switch {
	case errors.As(err, new(*foresight.TwiceError)):
		return nil, fmt.Errorf("%w in %s; give what was written at one moment", err, from)
	case err != nil:
		return nil, err
	}
	if q.namespace, err = from.Locate(q, model); err != nil {
		return nil, err
	}
	explained := model.Explain(q.namespace, q.pod, s.at)
	explained.EvictionMethod = string(e.settings.EvictionMethod)
	if unjudged := append(s.unjudged(nil), s.unknownNamespaces()...); len(unjudged) > 0 && !explained.Pod.Gone {
		return nil, fmt.Errorf("cannot say what becomes of pod %s/%s: in %s %s", q.namespace, q.pod, from, joined(unjudged))
	}
	if doubtful(explained) {
		explained.Notes = append(s.journal.without(), explained.Notes...)
	}
	if slices.ContainsFunc(explained.Taints, func(t foresight.ExplainedTaint) bool { return t.SinceFrom == foresight.FromPolicy }) {
		explained.Notes = append(explained.Notes, asIfNow)
	}
	if explained.Prediction != nil {
		explained.Notes = append(explained.Notes, e.held(&s, explained.Trips)...)
	}
	if explained.Prediction != nil && explained.Prediction.Evict {
		explained.Notes = append(explained.Notes, stale(model.Stale([]string{explained.Pod.Node}, s.at))...)
	}
	explained.Notes = append(explained.Notes, s.notes()...)
	explained.Incomplete = s.unknownMatches(nil)
	return explained, nil
}

// doubtful reports whether a journal could give more starts of taints.
func doubtful(e *foresight.Explanation) bool {
	return slices.ContainsFunc(e.Taints, func(t foresight.ExplainedTaint) bool { return t.SinceFrom == foresight.NotKnown }) || len(e.Notes) > 0
}

// named parses POD, pod/POD or NAMESPACE/POD. The namespace is empty if the argument has none.
func (e *explainOptions) named(pod string) (namespace, name string, err error) {
	first, second, two := strings.Cut(pod, "/")
	switch {
	case pod == "" || two && (first == "" || second == "" || strings.Contains(second, "/")):
		return "", "", fmt.Errorf("%q names no pod; write POD, or NAMESPACE/POD", pod)
	case !two:
		return e.from.namespace, pod, nil
	case slices.Contains([]string{"pod", "pods", "po"}, first):
		return e.from.namespace, second, nil
	case e.from.namespace != "" && e.from.namespace != first:
		return "", "", fmt.Errorf("%s is not in the namespace of --namespace=%s; leave one out", pod, e.from.namespace)
	}
	return first, second, nil
}

// noPod returns the error for a pod that does not exist and that no event names.
func noPod(namespace, name, where string, others []string, next string) error {
	return fmt.Errorf("there is no pod %s in namespace %s of %s%s, and no event names one; %s", name, namespace, where, suggest.Nearest(name, others), next)
}
