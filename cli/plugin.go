package cli

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The names of the program as a plugin of kubectl, and as the plugin's completion command.
const (
	pluginFile         = "kubectl-taint_manager"
	pluginCompleteFile = "kubectl_complete-taint_manager"
	pluginName         = "kubectl taint-manager"
)

// asPlugin turns a command line into that of the plugin.
func asPlugin(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: pluginName}
	root.AddCommand(pluginCompletionCommand())
	for _, cmd := range append(root.Commands(), root) {
		renameInHelp(cmd)
	}
}

// renameInHelp makes a command's help use the name with which the program was called.
func renameInHelp(cmd *cobra.Command) {
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		w := cmd.OutOrStdout()
		var text bytes.Buffer
		cmd.SetOut(&text)
		help(cmd, args)
		cmd.SetOut(w)
		_, _ = io.WriteString(w, withDisplayName(cmd.Root(), text.String()))
	})
}

// withDisplayName rewrites the commands in a text as the user would type them.
func withDisplayName(root *cobra.Command, text string) string {
	if root.DisplayName() == root.Name() {
		return text
	}
	words := []string{"--help", "COMMAND", "help"}
	for _, cmd := range root.Commands() {
		words = append(words, cmd.Name())
	}
	slices.Sort(words)
	commands := regexp.MustCompile(`(` + regexp.QuoteMeta(root.DisplayName()) + `|` + root.Name() + `) (` +
		strings.Join(words, "|") + `)\b`)
	return commands.ReplaceAllString(text, root.DisplayName()+" $2")
}

const pluginCompletion = `#!/bin/sh
# kubectl runs this to complete "kubectl taint-manager".
exec kubectl taint-manager ` + cobra.ShellCompRequestCmd + ` "$@"
`

func pluginCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion", Short: "Print the script with which kubectl completes this plugin",
		Long: `Print the script with which kubectl completes the command line of this plugin. It is the same for every
shell: kubectl's own completion must be on there.`,
		Example: `  # Any folder of the PATH will do
  kubectl taint-manager completion > /usr/local/bin/kubectl_complete-taint_manager
  chmod +x /usr/local/bin/kubectl_complete-taint_manager`,
		ValidArgs: []string{"bash", "zsh", "fish"}, // accepted, because users expect to name their shell
		Args:      cobra.OnlyValidArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), pluginCompletion)
			return err
		},
	}
}
