// Package inspect has the commands that only read: plan, explain and pending. They read a live cluster, a dump or a
// running manager, and print the result of package foresight.
package inspect

import (
	"context"
	"math"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/terminal"
)

// Commands returns the commands. They end with ctx, and send userAgent to API servers. A command whose Args is nil
// takes no arguments.
func Commands(ctx context.Context, userAgent string, read ReadConfig) []*cobra.Command {
	at := kube{userAgent: userAgent}
	commands := []*cobra.Command{planCommand(ctx, at, read), explainCommand(ctx, at, read), pendingCommand(ctx, at, read)}
	for _, cmd := range commands {
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			defer limitMemory()()
			if err := run(cmd, args); err != nil {
				return terminal.SafeError{Err: err}
			}
			return nil
		}
	}
	return commands
}

// memoryLimit is the heap size above which garbage is collected more often, at the cost of time.
const memoryLimit = 120 << 20

// limitMemory sets a memory limit, so that garbage does not fill the memory, unless GOMEMLIMIT is set. The returned
// function removes the limit.
func limitMemory() (lift func()) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() {}
	}
	before := debug.SetMemoryLimit(memoryLimit)
	return func() { debug.SetMemoryLimit(before) }
}
