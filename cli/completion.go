package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/cli/usage"
)

const completionHelp = `Print a script that completes the commands and flags of this program in a shell.

Usage:
  taint-manager completion bash|zsh|fish|powershell

Examples:
  # For this shell
  source <(taint-manager completion bash)

  # For every bash from now on
  taint-manager completion bash > /etc/bash_completion.d/taint-manager

Flags:
  -h, --help   print this help
`

func completionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:       "completion",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      oneShell,
		RunE:      func(cmd *cobra.Command, args []string) error { return printCompletion(cmd, args[0]) },
	}
	cmd.SetHelpFunc(terminal.PlainHelp(completionHelp))
	return cmd
}

func oneShell(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && slices.Contains(cmd.ValidArgs, args[0]) {
		return nil
	}
	got := "nothing"
	if len(args) > 0 {
		got = strconv.Quote(strings.Join(args, " "))
	}
	return usage.Errorf("completion takes one of bash, zsh, fish and powershell, got %s: '%s --help' says more", got,
		cmd.CommandPath())
}

func printCompletion(cmd *cobra.Command, shell string) error {
	root, w := cmd.Root(), cmd.OutOrStdout()
	switch shell {
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	default:
		return root.GenBashCompletionV2(w, true)
	}
}
