package cli

import (
	"bytes"
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
	root.CompletionOptions.DisableDefaultCmd = true // for completion, kubectl calls this program by another name
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
