package run

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
)

// ConfigCommand returns the command "config", which checks and writes the configuration files of "run".
func ConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Check and write configuration files",
		Long: "Check and write configuration files.\n\nExit codes: 0 done, 1 a file is refused, 2 wrong usage.",
		Example: `  # A file to begin with
  taint-manager config defaults > config.yaml

  # Everything that is wrong with it, with lines
  taint-manager config validate config.yaml`,
	}
	cmd.AddCommand(&cobra.Command{
		Use: "validate FILE...", Short: "Check files, and show what their policies do; - is the standard input",
		Args: someFiles, RunE: validateFiles,
	}, &cobra.Command{
		Use: "defaults", Short: "Print a file with every setting at its default",
		Args: flags.NoArguments, RunE: printText(config.Defaults),
	}, &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the file, for editors",
		Args: flags.NoArguments, RunE: printText(config.Schema),
	})
	return cmd
}

func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return flags.UsageError{Err: fmt.Errorf("there is no file; write '%s FILE...', or - for the standard input",
			cmd.CommandPath())}
	}
	return nil
}

// validateFiles prints a result for each file, and returns an error if a file is refused.
func validateFiles(cmd *cobra.Command, names []string) error {
	var refused []error
	for _, name := range names {
		if err := validateFile(cmd, name); err != nil {
			refused = append(refused, err)
		}
	}
	return errors.Join(refused...)
}

func validateFile(cmd *cobra.Command, name string) error {
	w := cmd.OutOrStdout()
	s, err := readSettings(name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "%s is valid.\n", name)
	for i := range s.Policies {
		_, _ = fmt.Fprintf(w, "  policy %s: %s\n", s.Policies[i].Name, s.Policies[i].Bound(s.Guards))
	}
	for _, warning := range s.warnings() {
		_, _ = fmt.Fprintf(w, "  warning: %s\n", warning)
	}
	return nil
}

// printText prints a text that follows from the default settings.
func printText(text func([]config.Setting) string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		_, err := io.WriteString(cmd.OutOrStdout(), text(newSettings().fileSettings()))
		return err
	}
}
