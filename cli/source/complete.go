package source

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/config"
)

// completionPatience is how long completion waits for the cluster.
const completionPatience = 3 * time.Second

// Complete sets the completion of a flag. It panics if the command has no such flag.
func Complete(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err)
	}
}

// Complete sets the completion of the command's flags that take names from the cluster, or an eviction method.
func (f *Flags) Complete(ctx context.Context, cmd *cobra.Command) {
	const noFile = cobra.ShellCompDirectiveNoFileComp
	methods := []string{string(config.MethodDelete), string(config.MethodEvict)}
	for flag, complete := range map[string]cobra.CompletionFunc{
		"context": f.contexts, "eviction-method": cobra.FixedCompletions(methods, noFile),
		"namespace": f.names(ctx, func(ctx context.Context, c Cluster, o metav1.ListOptions) (runtime.Object, error) {
			return c.client.CoreV1().Namespaces().List(ctx, o)
		}),
		"node": f.names(ctx, func(ctx context.Context, c Cluster, o metav1.ListOptions) (runtime.Object, error) {
			return c.client.CoreV1().Nodes().List(ctx, o)
		}),
	} {
		if cmd.Flags().Lookup(flag) != nil {
			Complete(cmd, flag, complete)
		}
	}
}

// PodNames completes with the pods of the namespace.
func (f *Flags) PodNames(ctx context.Context) cobra.CompletionFunc {
	return f.names(ctx, func(ctx context.Context, c Cluster, o metav1.ListOptions) (runtime.Object, error) {
		return c.client.CoreV1().Pods(c.namespace).List(ctx, o)
	})
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
func (f *Flags) names(
	ctx context.Context, list func(context.Context, Cluster, metav1.ListOptions) (runtime.Object, error),
) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		cluster, err := f.reach()
		if err != nil || f.Dumped() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(ctx, completionPatience)
		defer cancel()
		names, err := namesIn(list(ctx, cluster, metav1.ListOptions{ResourceVersion: "0"}))
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return WithPrefix(typed, names), cobra.ShellCompDirectiveNoFileComp
	}
}

// WithPrefix returns the words that begin with the text after the last comma.
func WithPrefix(typed string, list []string) []cobra.Completion {
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
func (f *Flags) contexts(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return WithPrefix(typed, f.contextNames()), cobra.ShellCompDirectiveNoFileComp
}
