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
	"github.com/taint-manager/taint-manager/policy"
)

// ReadConfig reads a configuration file of the manager, or the standard input for -. It returns all refusals as one
// error.
type ReadConfig func(name string, stdin io.Reader) (config.Configuration, *config.File, error)

// RuleFlags are the flags with which a command computes the verdicts of a manager with these settings.
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
	flags.Bind(fs, r.Settings.Settings(), append(named, "comparison-operators")...)
	flags.FileVar(fs, &r.File, "config", "Decide by the policies and guards of this configuration `FILE`; \"-\" is "+
		"standard input. Flags override the file.")
}

// Load reads the configuration file, and returns the rules.
func (r *RuleFlags) Load(cmd *cobra.Command) (foresight.Ruleset, error) {
	file := &config.File{}
	if r.File != "" {
		from, content, err := r.read(r.File, cmd.InOrStdin())
		if err != nil {
			return foresight.Ruleset{}, err
		}
		file = content
		notGiven := func(flag string) bool { return !cmd.Flags().Changed(flag) }
		if err := config.Copy(r.Settings.Settings(), from.Settings(), notGiven); err != nil {
			return foresight.Ruleset{}, err
		}
	}
	if refusals := r.Settings.Validate(); len(refusals) > 0 {
		return foresight.Ruleset{}, refusals[0] // only one flag can be refused here
	}
	rules, err := RulesOf(r.Settings, file)
	rules.File = r.File
	return rules, err
}

// RulesOf returns the rules of these settings and of the policies and guards of the file.
func RulesOf(c config.Configuration, file *config.File) (foresight.Ruleset, error) {
	by := policy.Config{
		Rules: c.Rules(), Method: c.EvictionMethod.Policy(), Policies: file.Policies, Guards: file.Guards,
	}
	rules, err := foresight.NewRuleset(by, c.Paused)
	if err != nil {
		return rules, fmt.Errorf("the configuration is refused: %w", err)
	}
	return rules, nil
}

// Selector parses the value of --selector, which is written as for this command of kubectl.
func Selector(written, as string) (labels.Selector, error) {
	selector, err := labels.Parse(written)
	if err != nil {
		return nil, config.Refusal{
			Flag: "selector", Value: written, Allowed: fmt.Sprintf("it is not a selector (%v)", err),
			Next: "write it as for " + as,
		}
	}
	return selector, nil
}
