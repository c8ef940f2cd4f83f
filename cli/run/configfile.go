package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/policy"
)

// fileSettings returns all settings that the configuration file may have.
func (s *settings) fileSettings() []config.Setting { return append(s.Settings(), s.others...) }

// load returns the settings that the flags and the configuration file result in.
func (s *settings) load(stdin io.Reader) (*settings, error) {
	if s.configFile == "" {
		return s, usageError(s.complete())
	}
	data, err := readConfigFile(s.configFile, stdin)
	if err != nil {
		return nil, err
	}
	next, err := s.withFile(data)
	if err != nil {
		return nil, usageError(err)
	}
	next.held = s.configFile != "-" && pausedBeside(s.configFile, false)
	return next, nil
}

func usageError(err error) error {
	if err == nil {
		return nil
	}
	return flags.UsageError{Err: err}
}

// withFile returns the settings of a process with the flags of s and a configuration file of this content. Flags that
// are given win.
func (s *settings) withFile(data []byte) (*settings, error) {
	next, err := decodeConfig(s.configFile, data)
	if err != nil {
		return nil, err
	}
	next.given, next.serving.SNICertKeys = s.given, s.serving.SNICertKeys // a file has no certificates by names
	if s.given("vmodule") {
		next.logging.VModule = nil // a value adds to the one before
	}
	if err := config.Copy(next.fileSettings(), s.fileSettings(), s.given); err != nil {
		return nil, err
	}
	return next, next.complete()
}

// warnings returns the consequences of the policies and guards that their author may not want.
func (s *settings) warnings() []policy.Warning {
	c := policy.Config{Policies: s.Policies, Guards: s.Guards, Method: s.EvictionMethod.Policy(), Rules: s.Rules()}
	return c.Warnings(time.Now())
}

// warn logs the warnings, and the flags that win over the file.
func (s *settings) warn(logger logr.Logger) {
	for _, setting := range s.fileSettings() {
		if s.Set[setting.Flag] > 0 && s.given(setting.Flag) {
			logger.Info("The flag wins over the configuration file", "flag", "--"+setting.Flag, "configFile",
				s.configFile)
		}
	}
	for _, w := range s.warnings() {
		logger.Info("A warning about the configuration file", "configFile", s.configFile, "warning", w.String())
	}
}

// needRestart logs the fields that a process with these settings does not take in, and returns their number.
func (s *settings) needRestart(logger logr.Logger, next *settings) (fields int) {
	was, is := s.fileSettings(), next.fileSettings()
	for i := range is {
		file, inForce := is[i].Value.String(), was[i].Value.String()
		if is[i].Live || s.given(is[i].Flag) || file == inForce {
			continue
		}
		fields++
		logger.Info("A field of the configuration file needs a restart", "configFile", s.configFile,
			"line", next.Set[is[i].Flag], "field", is[i].Field, "inFile", file, "inForce", inForce)
	}
	return fields
}

// ReadConfig reads a configuration file, or the standard input for -, and returns the settings that result from the
// file alone, and its other content. The error has all refusals.
func ReadConfig(name string, stdin io.Reader) (config.Configuration, *config.File, error) {
	s, err := readSettings(name, stdin)
	if err != nil {
		return config.Configuration{}, nil, err
	}
	return s.Configuration, s.File, nil
}

// readSettings returns the settings that result from a file alone.
func readSettings(name string, stdin io.Reader) (*settings, error) {
	data, err := readConfigFile(name, stdin)
	if err != nil {
		return nil, err
	}
	return decodeConfig(name, data)
}

// decodeConfig returns the settings that result from the content of a file alone.
func decodeConfig(name string, data []byte) (*settings, error) {
	s := newSettings()
	s.configFile, s.content = name, data
	file, refusals := config.Decode(name, data, s.fileSettings)
	errs := asErrors(refusals)
	if file == nil { // nothing of the content could be read
		return nil, errors.Join(errs...)
	}
	s.File = file
	for _, err := range s.componentRefusals() {
		if r, ok := errors.AsType[config.Refusal](err); ok && r.Flag != "" {
			err = file.Refusal(r)
		}
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

// readConfigFile reads a file, or the standard input for -, up to the maximum size.
func readConfigFile(name string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("the configuration file can't be read: %w; name another one, or write one with 'taint-manager config defaults'", err)
		}
		defer file.Close()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, config.MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("the configuration file can't be read: %w; check the path", err)
	}
	return data, nil
}

// ConfigCommand returns the command "config", which checks and writes the configuration files of "run".
func ConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Validate and generate configuration files",
		Long: "Validate and generate configuration files.\n\nExit codes: 0 success, 1 a file is invalid, 2 wrong usage.",
		Example: `  # Write a file with all defaults
  taint-manager config defaults > config.yaml

  # Validate it
  taint-manager config validate config.yaml`,
	}
	cmd.AddCommand(&cobra.Command{
		Use: "validate FILE...", Short: "Validate files and show what their policies do (- is standard input)",
		RunE: validateFiles,
	}, &cobra.Command{
		Use: "defaults", Short: "Print a file with all defaults",
		Args: flags.NoArguments, ValidArgsFunction: cobra.NoFileCompletions, RunE: printText(config.Defaults),
	}, &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the file",
		Args: flags.NoArguments, ValidArgsFunction: cobra.NoFileCompletions, RunE: printText(config.Schema),
	})
	return cmd
}

// validateFiles prints a result for each file, and returns an error if a file is refused.
func validateFiles(cmd *cobra.Command, names []string) error {
	if len(names) == 0 {
		return usageError(fmt.Errorf("there is no file; write '%s FILE...', or - for the standard input", cmd.CommandPath()))
	}
	w := cmd.OutOrStdout()
	var refused []error
	for _, name := range names {
		s, err := readSettings(name, cmd.InOrStdin())
		if err != nil {
			refused = append(refused, err)
			continue
		}
		_, _ = fmt.Fprintf(w, "%s is valid.\n", name)
		for i := range s.Policies {
			_, _ = fmt.Fprintf(w, "  policy %s: %s\n", s.Policies[i].Name, s.Policies[i].Bound(s.Guards))
		}
		for _, warning := range s.warnings() {
			_, _ = fmt.Fprintf(w, "  warning: %s\n", warning)
		}
	}
	return errors.Join(refused...)
}

// printText prints a text that follows from the default settings.
func printText(text func([]config.Setting) string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		_, err := io.WriteString(cmd.OutOrStdout(), text(newSettings().fileSettings()))
		return err
	}
}
