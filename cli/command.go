package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/explain"
	"github.com/taint-manager/taint-manager/cli/pending"
	"github.com/taint-manager/taint-manager/cli/plan"
	"github.com/taint-manager/taint-manager/cli/run"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/cli/usage"
)

// The exit codes.
const (
	OK        = 0
	CannotRun = 1
	Usage     = 2
)

const rootHelp = `taint-manager evicts pods from nodes whose NoExecute taints they do not tolerate.
It takes the place of the taint-eviction-controller of kube-controller-manager.

Usage:
  taint-manager COMMAND [flags]

Commands:
  run          Watch the cluster and evict
  plan         Say what would happen if nodes got other taints
  explain      Say what becomes of one pod, when and why
  pending      Say which evictions are scheduled now
  config       Check and write configuration files
  version      Print the version
  completion   Print a script that completes commands and flags in a shell
  help         Print the help of a command

Flags:
  -h, --help      print this help
      --version   print the version

Examples:
  # What would go if a node got a taint; this only reads
  taint-manager plan --node n1 --taint maintenance:NoExecute

  # Log what would be evicted, and write nothing: safe beside the original
  taint-manager run --kubeconfig=$HOME/.kube/config --dry-run

  # In a pod; then append -taint-eviction-controller to the --controllers of kube-controller-manager
  taint-manager run

'taint-manager COMMAND --help' lists a command's flags, with examples.

Exit codes: 0 done, 1 cannot run, 2 wrong usage.
`

// Run runs the command line and returns the exit code of the process. It returns when the command is done; for "run"
// that is when ctx has ended or the process was signalled.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return execute(NewCommand(ctx), args, stdout, stderr)
}

func execute(cmd *cobra.Command, args []string, stdout, stderr io.Writer) int {
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	if err != nil && !errors.Is(err, answer.ErrWouldEvict) {
		_, _ = fmt.Fprintf(stderr, "taint-manager: %s\n", spelled(cmd, err.Error()))
	}
	return exitCode(err)
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return OK
	case errors.Is(err, answer.ErrWouldEvict):
		return answer.WouldEvict
	case errors.As(err, new(usage.Error)):
		return Usage
	default:
		return CannotRun
	}
}

// NewCommand returns the command line as a cobra command, which may be executed once and ends with ctx. It prints
// results to the command's output and returns errors.
func NewCommand(ctx context.Context) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:  "taint-manager",
		Args: usage.KnownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printBuild(cmd.OutOrStdout(), thisBuild(), "text")
			}
			return cmd.Help()
		},
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.SetHelpFunc(terminal.PlainHelp(rootHelp))
	root.SetFlagErrorFunc(usage.FlagError)
	root.SetHelpCommand(helpCommand())
	build := thisBuild()
	root.AddCommand(run.Command(ctx, run.Build{Version: build.Version, UserAgent: build.userAgent()}),
		run.ConfigCommand(), versionCommand(), completionCommand())
	agent, read := build.userAgent(), run.ReadConfig
	for _, cmd := range []*cobra.Command{
		plan.Command(ctx, agent, read), explain.Command(ctx, agent, read),
		pending.Command(ctx, agent, read),
	} {
		if cmd.Args == nil {
			cmd.Args = func(cmd *cobra.Command, args []string) error { return cannotRun(usage.NoArguments(cmd, args)) }
		}
		cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return cannotRun(usage.FlagError(cmd, err)) })
		root.AddCommand(cmd)
	}
	return root
}

// cannotRun converts a wrong usage to an ordinary error, because exit code 2 has another meaning there.
func cannotRun(err error) error {
	if wrong, ok := errors.AsType[usage.Error](err); ok {
		return wrong.Unwrap()
	}
	return err
}
