package source

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/policy"
)

// completionPatience is how long completion waits for the cluster.
const completionPatience = 3 * time.Second

// Complete sets the completion of the command's flags: --output completes with the forms, and others with names from
// the cluster or with eviction methods. Other flags that take no file complete nothing.
func (f *Flags) Complete(cmd *cobra.Command, forms cobra.CompletionFunc) {
	methods := []string{policy.Delete.Word(), policy.Evict.Word()}
	completions := map[string]cobra.CompletionFunc{
		"context":   completion(func(context.Context) []string { return f.contexts() }),
		"namespace": f.Names("namespaces"), "node": f.Names("nodes"),
		"eviction-method": cobra.FixedCompletions(methods, cobra.ShellCompDirectiveNoFileComp), "output": forms,
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		complete := completions[flag.Name]
		if takes, _ := pflag.UnquoteUsage(flag); complete == nil && takes != "FILE" && !flag.Hidden {
			complete = cobra.NoFileCompletions
		}
		if complete == nil {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(flag.Name, complete); err != nil {
			panic(err) // the flag already has a completion
		}
	})
}

// Names completes the names of a resource in the cluster. If the cluster does not answer, it completes nothing.
func (f *Flags) Names(resource string) cobra.CompletionFunc {
	return completion(func(ctx context.Context) []string {
		cluster, namespace, err := f.Live(false)
		if err != nil || f.Dumped() {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, completionPatience)
		defer cancel()
		var names []string
		for _, o := range cluster.firstPage(ctx, resource, namespace, metav1.ListOptions{ResourceVersion: "0"}) {
			names = append(names, o.GetName())
		}
		return names
	})
}

// completion completes these words.
func completion(words func(context.Context) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return withPrefix(typed, words(cmd.Context())), cobra.ShellCompDirectiveNoFileComp
	}
}

// withPrefix returns the words that begin with the text after the last comma.
func withPrefix(typed string, words []string) []cobra.Completion {
	before := typed[:strings.LastIndex(typed, ",")+1]
	var fitting []cobra.Completion
	for _, word := range words {
		if strings.HasPrefix(word, typed[len(before):]) && terminal.Escape(word) == word {
			fitting = append(fitting, before+word)
		}
	}
	return fitting
}
