package plan

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/source"
)

// completeTaint completes the effect once the key is typed.
func completeTaint(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	colon := strings.LastIndex(typed, ":")
	if colon < 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	var taints []string
	for _, effect := range []string{"NoExecute", "NoSchedule", "PreferNoSchedule"} {
		taints = append(taints, typed[:colon+1]+effect)
	}
	return source.WithPrefix(typed, taints), cobra.ShellCompDirectiveNoFileComp
}
