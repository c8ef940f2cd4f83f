package inspect

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/foresight"
)

// explainOptions is all that can be set on "explain".
type explainOptions struct {
	from     sourceFlags
	settings config.Configuration // of the manager
	at       string
	output   string
}

func explainCommand(ctx context.Context, at kube) *cobra.Command {
	e := &explainOptions{settings: config.Default(), from: sourceFlags{kube: at}}
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
	flags.BindJudging(fs, &e.settings)
	addMomentFlag(fs, &e.at, "The moment of the question:")
	addOutputFlag(fs, &e.output)
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
	namespace, name, err := e.named(pod)
	if err != nil {
		return err
	}
	from, err := e.open(cmd, namespace)
	if err != nil {
		return err
	}
	found, err := from.find(ctx, name)
	if err != nil {
		return err
	}
	explained := e.explain(found, name, at)
	for _, n := range explained.Notes {
		note(cmd.ErrOrStderr(), n)
	}
	return printExplanation(cmd.OutOrStdout(), explained, e.output)
}

// check refuses flags, and returns the moment of the question.
func (e *explainOptions) check() (time.Time, error) {
	if err := checkOutput(e.output); err != nil {
		return time.Time{}, err
	}
	if err := e.from.check(); err != nil {
		return time.Time{}, err
	}
	return moment(e.at)
}

// explain judges by what the API and the journal tell.
func (e *explainOptions) explain(found finding, name string, at time.Time) *foresight.Explanation {
	if found.pod == nil {
		return foresight.ExplainGone(found.namespace, name, found.events, at)
	}
	subject := foresight.Subject{
		Pod: found.pod, Node: found.node, Events: found.events, At: at, Rules: e.settings.Rules(),
	}
	if found.node == nil || found.pages == nil {
		return foresight.Explain(subject)
	}
	records := found.pages.records()
	subject.Recorded = records[found.node.Name]
	explained := foresight.Explain(subject)
	if doubtful(explained) {
		explained.Notes = append(found.pages.without(), explained.Notes...)
	}
	if explained.Prediction.Evict {
		explained.Notes = append(explained.Notes, stale(records.Stale([]string{found.node.Name}, at))...)
	}
	return explained
}

// doubtful says whether a journal would tell more of since when the taints are there.
func doubtful(e *foresight.Explanation) bool {
	return slices.ContainsFunc(e.Taints, func(t foresight.ExplainedTaint) bool { return t.SinceFrom == foresight.NotKnown }) || len(e.Notes) > 0
}

// named reads POD, pod/POD or NAMESPACE/POD. The namespace is empty where none is given.
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

// finder finds what there is about a pod.
type finder interface {
	// find says that there is no such pod by an error, unless events tell of it.
	find(ctx context.Context, name string) (finding, error)
}

// finding is what there is about a pod.
type finding struct {
	namespace string
	pod       *v1.Pod  // nil: it is gone
	node      *v1.Node // nil: it is not there
	events    []v1.Event
	pages     *pages // about the node; nil where none was looked for
}

// open finds the cluster or the dump.
func (e *explainOptions) open(cmd *cobra.Command, namespace string) (finder, error) {
	if e.from.file != "" {
		return dumpedPods{dumped{file: e.from.file, in: cmd.InOrStdin(), messages: cmd.ErrOrStderr()}, namespace, &e.from.journalLocation}, nil
	}
	to, err := e.from.reach()
	if err != nil {
		return nil, err
	}
	if namespace == "" {
		namespace = to.namespace
	}
	return livePods{to, namespace, &e.from.journalLocation, cmd.ErrOrStderr()}, nil
}

// noPod says that there is no such pod, and never was as far as anybody knows.
func noPod(namespace, name, where string, others []string, next string) error {
	return fmt.Errorf("there is no pod %s in namespace %s of %s%s, and no event tells of one; %s", name, namespace, where, suggest.Nearest(name, others), next)
}

// about are the events of this very pod, and not of an earlier one of its name; all where it is gone.
func about(pod *v1.Pod, events []v1.Event) []v1.Event {
	return slices.DeleteFunc(events, func(e v1.Event) bool {
		return pod != nil && e.InvolvedObject.UID != "" && e.InvolvedObject.UID != pod.UID
	})
}

// livePods are the pods of a namespace of a real cluster.
type livePods struct {
	*reached
	namespace       string
	journalLocation *journalLocation
	messages        io.Writer
}

// dumpedPods are the pods of a namespace of a dump; of all, where it is empty.
type dumpedPods struct {
	dumped
	namespace       string
	journalLocation *journalLocation
}
