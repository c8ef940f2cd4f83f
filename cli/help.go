package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/term"
)

const runHelp = `Watch the cluster, and evict pods from nodes whose NoExecute taints they do not tolerate.

Several of them may run: one evicts, the others stand by with warm caches. Switch the original off
first: kube-controller-manager --controllers=*,-taint-eviction-controller. SIGTERM and SIGINT end it
once the calls under way have ended; a second signal ends it at once. To stop all evictions at once,
delete the ClusterRoleBinding taint-manager-evictions: what is due is kept, and goes on once the binding
is back. Scaling to zero, or restarting with --dry-run, stops them too.

Usage:
  taint-manager run [flags]

Examples:
  # Log what would be evicted, and write nothing
  taint-manager run --kubeconfig=$HOME/.kube/config --leader-elect=false --dry-run

  # Obey PodDisruptionBudgets, ten evictions a second at most
  taint-manager run --eviction-method=evict --max-evictions-per-second=10

Exit codes: 0 ended as told, 1 cannot run, 2 wrong usage.
`

// sectionedHelp prints the text and the flags in their sections, as wide as the terminal.
func sectionedHelp(text string, sections cliflag.NamedFlagSets) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, _ []string) {
		w := cmd.OutOrStdout()
		columns, _, _ := term.TerminalSize(w) // 0, where it is no terminal: nothing is wrapped
		_, _ = fmt.Fprint(w, text)
		cliflag.PrintSections(w, sections, columns)
	}
}
