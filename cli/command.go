package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/explain"
	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/pending"
	"github.com/taint-manager/taint-manager/cli/plan"
	"github.com/taint-manager/taint-manager/cli/run"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/hint"
)

// The exit codes.
const (
	OK        = 0
	CannotRun = 1
	Usage     = 2
)

const rootHelp = `taint-manager evicts pods that do not tolerate the NoExecute taints of their node. It replaces the
built-in controller, the taint-eviction-controller of kube-controller-manager.

Exit codes: 0: success; 1: error; 2: wrong usage. For plan, explain and pending: 0: success; 1: error or
wrong usage; 2: a pod is or would be evicted (with --exit-code).`

const rootExamples = `  # Show what would be evicted if a node were tainted (read-only)
  taint-manager plan --node n1 --taint maintenance:NoExecute

  # Log evictions without performing them; can run alongside kube-controller-manager
  taint-manager run --kubeconfig=$HOME/.kube/config --dry-run

  # Evict pods
  taint-manager run`

// Run runs the command line, whose first element is the name of the program, and returns the exit code of the process.
// It returns when the command is done; for "run" that is when ctx has ended or the process was signalled.
//
// As kubectl-taint_manager the program is the plugin of kubectl, and its help and messages say "kubectl taint-manager";
// as kubectl_complete-taint_manager it completes the plugin's command line for kubectl.
func Run(ctx context.Context, argv []string, stdout, stderr io.Writer) int {
	root, args := newCommand(), argv[1:] //nolint:contextcheck // commands get ctx from cobra
	switch strings.TrimSuffix(filepath.Base(argv[0]), ".exe") {
	case pluginFile:
		asPlugin(root)
	case pluginCompleteFile:
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(args)
	out := &terminal.Output{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	root.InitDefaultCompletionCmd(args...)
	for _, cmd := range append(root.Commands(), root) {
		if cmd.HasSubCommands() {
			if cmd.Args = flags.KnownCommand; cmd.RunE == nil {
				cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			}
		}
	}
	cmd, err := root.ExecuteContextC(ctx)
	if (err == nil || errors.Is(err, answer.ErrWouldEvict)) && out.Err != nil {
		err = fmt.Errorf("writing the output: %w", out.Err)
	}
	if err != nil && !errors.Is(err, answer.ErrWouldEvict) {
		report(stderr, root, err)
	}
	if incomplete, ok := errors.AsType[answer.Incomplete](err); ok {
		answer.Remark(stderr, incomplete.Remarks)
	}
	return exitCode(cmd, err)
}

// report prints each error that errors.Join has joined, and its next step on a line of its own.
func report(w io.Writer, root *cobra.Command, err error) {
	if usage, ok := errors.AsType[flags.UsageError](err); ok {
		err = usage.Err
	}
	for _, problem := range terminal.Problems(err) {
		_, _ = fmt.Fprintf(w, "error: %s\n", withDisplayName(root, problem.Error()))
		if next := hint.Of(problem); next != "" {
			_, _ = fmt.Fprintln(w, withDisplayName(root, terminal.Escape(next)))
		}
	}
}

// exitCode returns the exit code after a command. For commands whose code 2 means evictions, wrong usage has code 1.
func exitCode(cmd *cobra.Command, err error) int {
	forEvictions := cmd.Flags().Lookup("exit-code") != nil
	switch {
	case err == nil:
		return OK
	case errors.Is(err, answer.ErrWouldEvict):
		return answer.WouldEvict
	case errors.As(err, new(flags.UsageError)) && !forEvictions:
		return Usage
	}
	return CannotRun
}

// newCommand returns the command line as a cobra command, which may be executed once and ends with its context. It
// prints results to the command's output and returns errors.
func newCommand() *cobra.Command {
	build := thisBuild()
	root := &cobra.Command{
		Use: "taint-manager", Long: rootHelp, Example: rootExamples, SilenceErrors: true, SilenceUsage: true,
	}
	root.Flags().Bool("version", false, "Print the version and exit.")
	root.RunE = func(cmd *cobra.Command, _ []string) error { // cobra's own --version links text/template
		if asked, err := cmd.Flags().GetBool("version"); err != nil || !asked {
			return cmd.Help()
		}
		_, err := fmt.Fprint(cmd.OutOrStdout(), build.String())
		return err
	}
	root.SetFlagErrorFunc(flags.Refuse)
	root.SetHelpCommand(helpCommand())
	agent, read := build.userAgent(), run.ReadConfig
	root.AddCommand(run.Command(run.Build{Version: build.Version, UserAgent: agent}), run.ConfigCommand(),
		versionCommand(), plan.Command(agent, read), explain.Command(agent, read), pending.Command(agent, read))
	return root
}

// helpCommand prints the help of the command that its arguments name.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command", ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			named, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) > 0 {
				err = named.ValidateArgs(rest)
			}
			if err != nil {
				return err
			}
			named.InitDefaultHelpFlag()
			return named.Help()
		},
	}
}
