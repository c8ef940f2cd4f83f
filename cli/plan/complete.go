package plan

import (
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/cli/source"
)

// completeTaint completes the effect once the key is typed.
func completeTaint(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	colon := strings.LastIndex(typed, ":")
	if colon < 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	var taints []string
	for _, effect := range []v1.TaintEffect{
		v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule,
		v1.TaintEffectPreferNoSchedule,
	} {
		taints = append(taints, typed[:colon+1]+string(effect))
	}
	return source.WithPrefix(typed, taints), cobra.ShellCompDirectiveNoFileComp
}
