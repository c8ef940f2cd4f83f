// Package inspect has the commands that look and change nothing: plan, explain and pending. They read a
// live cluster, a dump or a running manager, and print what package foresight says of it.
package inspect

import (
	"context"

	"github.com/spf13/cobra"
)

// Commands returns the commands. They end with ctx, and call themselves userAgent to API servers. A
// command whose Args is nil takes no arguments.
func Commands(ctx context.Context, userAgent string) []*cobra.Command {
	at := kube{userAgent: userAgent}
	return []*cobra.Command{planCommand(ctx, at), explainCommand(ctx, at), pendingCommand(ctx, at)}
}
