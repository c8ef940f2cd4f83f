package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/hint"
	"github.com/taint-manager/taint-manager/policy"
)

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
	next.pausedByFile = s.configFile != "-" && pauseFileSet(s.configFile, false)
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
	next.given, next.serving.SNICertKeys = s.given, s.serving.SNICertKeys // a file has no field for these certificates
	if s.given("vmodule") {
		next.logging.VModule = nil // setting a value adds to the previous one
	}
	for _, section := range s.sections.Order {
		to := next.sections.FlagSet(section)
		given := func(f *pflag.Flag) bool {
			return s.given(f.Name) && f.Name != "tls-sni-cert-key" && f.Name != "config"
		}
		to.VisitAll(func(f *pflag.Flag) {
			if given(f) && f.Value.String() != f.DefValue {
				next.overridden = append(next.overridden, "--"+f.Name)
			}
		})
		if err := flags.Copy(to, s.sections.FlagSet(section), given); err != nil {
			return nil, err
		}
	}
	return next, next.complete()
}

// warnings returns the consequences of the policies and guards that their author may not want.
func (s *settings) warnings() []policy.Warning {
	rules := s.Policy()
	return rules.Warnings(time.Now())
}

// warn logs the warnings, and the flags that override the file.
func (s *settings) warn(logger logr.Logger) {
	if len(s.overridden) > 0 {
		logger.Info("Flags override the configuration file", "flags", s.overridden, "configFile", s.configFile)
	}
	for _, w := range s.warnings() {
		logger.Info("A warning about the configuration", "configFile", s.configFile, "warning", w.String())
	}
}

// needRestart returns the names of the top-level fields in which next differs from s, and whose changes a running
// process does not apply.
func (s *settings) needRestart(next *settings) (fields []string) {
	was, is := restartPart(s.Configuration), restartPart(next.Configuration)
	for i := range was.NumField() {
		if !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
			name, _, _ := strings.Cut(was.Type().Field(i).Tag.Get("json"), ",")
			fields = append(fields, name)
		}
	}
	return fields
}

// restartPart returns a configuration without the fields that a running process applies.
func restartPart(c config.Configuration) reflect.Value {
	c.Policies, c.Guards, c.Paused = nil, policy.Guards{}, false
	c.Eviction.Method, c.Eviction.Workers, c.Eviction.ComparisonOperators = "", 0, false
	return reflect.ValueOf(c)
}

// ReadConfig reads a configuration file, or the standard input for -, and returns the configuration that results from
// the file alone. The error has every error of the file.
func ReadConfig(name string, stdin io.Reader) (config.Configuration, error) {
	s, err := readSettings(name, stdin)
	if err != nil {
		return config.Configuration{}, err
	}
	return s.Configuration, nil
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
	errs := config.Decode(name, data, &s.Configuration)
	for _, err := range append([]error{s.apply()}, s.componentErrors()...) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return s, errors.Join(errs...)
}

// readConfigFile reads a file, or the standard input for -, up to the maximum size.
func readConfigFile(name string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, hint.Add(fmt.Errorf("cannot read the configuration file: %w", err),
				"Check the path, or create a file with 'taint-manager config defaults'.")
		}
		defer file.Close()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, config.MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration file: %w", err)
	}
	return data, nil
}

// ConfigCommand returns the command "config", which checks and writes the configuration files of "run".
func ConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Validate and generate configuration files",
		Long: "Validate and generate configuration files.\n\nExit codes: 0: success; 1: invalid file; 2: wrong usage.",
		Example: `  # Write a file with all defaults
  taint-manager config defaults > config.yaml

  # Validate it
  taint-manager config validate config.yaml`,
	}
	cmd.AddCommand(&cobra.Command{
		Use: "validate FILE...", Short: "Validate files (\"-\" reads standard input) and show what their policies do",
		RunE: validateFiles,
	}, &cobra.Command{
		Use: "defaults", Short: "Print a file with all defaults",
		Args: flags.NoArguments, ValidArgsFunction: cobra.NoFileCompletions, RunE: printText(config.Defaults),
	}, &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of configuration files",
		Args: flags.NoArguments, ValidArgsFunction: cobra.NoFileCompletions, RunE: printText(config.Schema),
	})
	return cmd
}

// validateFiles prints a result for each file, and returns an error if a file is refused.
func validateFiles(cmd *cobra.Command, names []string) error {
	if len(names) == 0 {
		return usageError(hint.Add(errors.New("no file specified"), "Use '%s FILE...', or - for standard input.",
			cmd.CommandPath()))
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
		rules := s.Policy()
		for i := range s.Policies {
			if rules.Never(i) == "" {
				_, _ = fmt.Fprintf(w, "  policy %s: %s\n", s.Policies[i].Name, s.Policies[i].Bound(s.Guards))
			}
		}
		for _, warning := range s.warnings() {
			_, _ = fmt.Fprintf(w, "  warning: %s\n", warning)
		}
	}
	return errors.Join(refused...)
}

// printText prints a text.
func printText(text string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		_, err := io.WriteString(cmd.OutOrStdout(), text)
		return err
	}
}
