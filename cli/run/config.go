package run

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/policy"
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
		Args: flags.NoArguments, RunE: printDefaults,
	}, &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the file, for editors",
		Args: flags.NoArguments, RunE: printSchema,
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

// validateFiles prints a result for each file, and returns an error if one of them is refused.
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
	data, err := readConfigFile(name, cmd.InOrStdin())
	if err != nil {
		return err
	}
	s, file, err := decodeConfig(name, data)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "%s is valid.\n", name)
	for i := range file.Policies {
		_, _ = fmt.Fprintf(w, "  policy %s: %s\n", file.Policies[i].Name, file.Policies[i].Bound(file.Guards))
	}
	for _, warning := range warnings(s, file) {
		_, _ = fmt.Fprintf(w, "  warning: %s\n", warning)
	}
	return nil
}

func warnings(s *settings, file *config.File) []policy.Warning {
	c := policy.Config{
		Policies: file.Policies, Guards: file.Guards, Method: s.EvictionMethod.Policy(),
		Rules: s.Rules(),
	}
	return c.Warnings()
}

func printDefaults(cmd *cobra.Command, _ []string) error {
	s := defaultSettings()
	s.flags()
	_, err := io.WriteString(cmd.OutOrStdout(), config.Defaults(s.fileSettings()))
	return err
}

func printSchema(cmd *cobra.Command, _ []string) error {
	s := defaultSettings()
	s.flags()
	schema, err := config.Schema(s.fileSettings())
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(schema)
	return err
}
