package source

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/hint"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// ReadConfig reads a configuration file of the manager, or the standard input for -. It returns every error as
// one.
type ReadConfig func(name string, stdin io.Reader) (config.Configuration, error)

// RuleFlags are the flags that set the settings of a manager. A command computes the verdicts of that manager.
type RuleFlags struct {
	// File is the manager's configuration file.
	File string

	// Settings are those of the manager, by the flags and the file.
	Settings config.Configuration

	read ReadConfig
}

// NewRuleFlags returns the default settings.
func NewRuleFlags(read ReadConfig) RuleFlags {
	return RuleFlags{read: read, Settings: config.Default()}
}

// Bind adds the flag of the configuration file, --comparison-operators, and the named flags.
func (r *RuleFlags) Bind(fs *pflag.FlagSet, named ...string) {
	all := flagsOf(&r.Settings)
	for _, name := range append(named, "comparison-operators") {
		f := all.Lookup(name)
		f.Usage += " The default is the value in the configuration (see --config)."
		f.DefValue = "" // so that the help names no other default
		fs.AddFlag(f)
	}
	flags.FileVar(fs, &r.File, "config", "Use this configuration `FILE` instead of the running taint-manager's. "+
		"\"-\" reads standard input; \"none\" means no configuration file. Flags override the file.")
}

// noFile is the value of --config that stands for a manager without a configuration file.
const noFile = "none"

// Load reads the configuration file, and returns the rules.
func (r *RuleFlags) Load(cmd *cobra.Command) (foresight.Ruleset, error) {
	if r.File != "" && r.File != noFile {
		from, err := r.read(r.File, cmd.InOrStdin())
		if err != nil {
			return foresight.Ruleset{}, err
		}
		given := func(f *pflag.Flag) bool { return f.Changed }
		if err := flags.Copy(flagsOf(&from), cmd.Flags(), given); err != nil {
			return foresight.Ruleset{}, err
		}
		r.Settings = from
	}
	if errs := r.Settings.Validate(); len(errs) > 0 {
		return foresight.Ruleset{}, flags.FieldErrors(errs, cmd.Flags().Changed)
	}
	return rulesOf(r.Settings)
}

// Running returns a function that turns the configuration of the running manager into rules; given flags override the
// configuration. It returns nil if --config is given.
func (r *RuleFlags) Running(cmd *cobra.Command) func(journal.Config) (foresight.Ruleset, error) {
	if r.File != "" {
		return nil
	}
	given := func(flag string) bool { return cmd.Flags().Changed(flag) }
	return func(c journal.Config) (foresight.Ruleset, error) {
		by := policy.Config{
			Rules: taint.Rules{NoComparison: c.NoComparison}, Method: c.Method, Policies: c.Policies, Guards: c.Guards,
		}
		if given("eviction-method") {
			by.Method = r.Settings.Eviction.Method
		}
		if given("comparison-operators") {
			by.Rules = r.Settings.Policy().Rules
		}
		rules, err := foresight.NewRuleset(by, c.Paused)
		rules.MaxEvictionsPerSecond = c.MaxEvictionsPerSecond
		return rules, err
	}
}

// flagsOf returns the flags of evictions, bound to c.
func flagsOf(c *config.Configuration) *pflag.FlagSet {
	var fs pflag.FlagSet
	c.AddFlags(&fs)
	return &fs
}

// rulesOf returns the rules of a configuration.
func rulesOf(c config.Configuration) (foresight.Ruleset, error) {
	rules, err := foresight.NewRuleset(c.Policy(), c.Paused)
	rules.MaxEvictionsPerSecond = c.Eviction.MaxEvictionsPerSecond
	if err != nil {
		return rules, fmt.Errorf("invalid configuration: %w", err)
	}
	return rules, nil
}

// Selector parses the value of --selector, which is written as for this command of kubectl.
func Selector(written, as string) (labels.Selector, error) {
	selector, err := labels.Parse(written)
	if err != nil {
		return nil, hint.Add(flags.Invalid("selector", written, err.Error()), "Write it as for %s.", as)
	}
	return selector, nil
}
