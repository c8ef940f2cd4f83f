package inspect

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/config"
)

// completionPatience is how long completion waits for the cluster.
const completionPatience = 3 * time.Second

// words returns a completion from a fixed list.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// completeWith sets the completion of a flag. It panics if the command has no such flag.
func completeWith(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err)
	}
}

// complete sets the completion of the flags that plan, explain and pending have in common.
func (p *sourceFlags) complete(ctx context.Context, cmd *cobra.Command, forms ...string) {
	completeWith(cmd, "output", words(forms...))
	completeWith(cmd, "context", p.contexts)
	completeWith(cmd, "namespace", p.names(ctx, func(ctx context.Context, r *reached) ([]string, error) {
		return namesIn(r.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{ResourceVersion: "0"}))
	}))
}

func (p *planOptions) complete(ctx context.Context, cmd *cobra.Command) {
	p.from.complete(ctx, cmd, p.output.forms...)
	completeWith(cmd, "eviction-method", words(string(config.MethodDelete), string(config.MethodEvict)))
	completeWith(cmd, "taint", completeTaint)
	completeWith(cmd, "node", p.from.nodeNames(ctx))
}

func (a *pendingOptions) complete(ctx context.Context, cmd *cobra.Command) {
	a.from.complete(ctx, cmd, a.output.forms...)
	completeWith(cmd, "node", a.from.nodeNames(ctx))
}

// nodeNames completes with the nodes of the cluster.
func (p *sourceFlags) nodeNames(ctx context.Context) cobra.CompletionFunc {
	return p.names(ctx, func(ctx context.Context, r *reached) ([]string, error) {
		return namesIn(r.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"}))
	})
}

func (e *explainOptions) complete(ctx context.Context, cmd *cobra.Command) {
	e.from.complete(ctx, cmd, e.output.forms...)
	pods := e.from.names(ctx, func(ctx context.Context, r *reached) ([]string, error) {
		return namesIn(r.client.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0"}))
	})
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return pods(cmd, args, typed)
	}
}

// namesIn returns the names of the items of a list.
func namesIn(list runtime.Object, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	var names []string
	err = meta.EachListItem(list, func(item runtime.Object) error {
		about, err := meta.Accessor(item)
		if err == nil {
			names = append(names, about.GetName())
		}
		return err
	})
	return names, err
}

// names completes with names from the cluster. If the cluster does not answer, it completes nothing.
func (p *sourceFlags) names(ctx context.Context, ask func(context.Context, *reached) ([]string, error)) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		cluster, err := p.reach()
		if err != nil || len(p.files) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(ctx, completionPatience)
		defer cancel()
		names, err := ask(ctx, cluster)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return beginning(typed, names), cobra.ShellCompDirectiveNoFileComp
	}
}

// beginning returns the words that begin with the text after the last comma.
func beginning(typed string, list []string) []cobra.Completion {
	before := typed[:strings.LastIndex(typed, ",")+1]
	var fitting []cobra.Completion
	for _, word := range list {
		if strings.HasPrefix(word, typed[len(before):]) && terminal.Escape(word) == word {
			fitting = append(fitting, before+word)
		}
	}
	return fitting
}

// contexts completes with the contexts of the kubeconfig.
func (p *sourceFlags) contexts(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return beginning(typed, p.contextNames()), cobra.ShellCompDirectiveNoFileComp
}

// completeTaint completes the effect once the key is typed.
func completeTaint(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	colon := strings.LastIndex(typed, ":")
	if colon < 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	var taints []string
	for _, effect := range []v1.TaintEffect{v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule} {
		taints = append(taints, typed[:colon+1]+string(effect))
	}
	return beginning(typed, taints), cobra.ShellCompDirectiveNoFileComp
}
