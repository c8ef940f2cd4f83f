// Package answer prints the answers of plan, explain and pending in the forms of --output, with their notes, and
// decides their exit code.
package answer

import (
	"errors"
	"math"
	"runtime/debug"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/terminal"
)

// memoryLimit is the heap size above which garbage is collected more often, at the cost of time.
const memoryLimit = 120 << 20

// Command returns a command without arguments that may read a large cluster, with this help and these flags. The
// messages of its errors are escaped. While it runs, memory is limited, so that garbage does not fill it, unless
// GOMEMLIMIT is set.
func Command(
	use, short, help string, sections cliflag.NamedFlagSets, run func(cmd *cobra.Command, args []string) error,
) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: flags.NoArguments, ValidArgsFunction: cobra.NoFileCompletions}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if before := debug.SetMemoryLimit(-1); before == math.MaxInt64 {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryLimit))
		}
		var safe []error
		for _, err := range terminal.Problems(run(cmd, args)) {
			safe = append(safe, terminal.SafeError{Err: err})
		}
		return errors.Join(safe...)
	}
	terminal.AddFlags(cmd, help, sections)
	return cmd
}
