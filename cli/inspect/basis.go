package inspect

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// ReadConfig reads a configuration file of the manager, or the standard input for -. It returns all refusals as one
// error.
type ReadConfig func(name string, stdin io.Reader) (config.Configuration, *config.File, error)

// judging has the flags by which a command judges as a manager with these settings does.
type judging struct {
	read     ReadConfig
	settings config.Configuration // of the manager, by the flags
	file     string               // its configuration file
	basis    foresight.Basis
}

func newJudging(read ReadConfig) judging { return judging{read: read, settings: config.Default()} }

// flags adds the flags of the settings that affect verdicts, and the named ones.
func (j *judging) flags(fs *pflag.FlagSet, named ...string) {
	flags.BindJudging(fs, &j.settings, named...)
	fs.StringVar(&j.file, "config", "", "Judge as a manager with this configuration `FILE`, with its policies and breakers; - is the standard input. Flags that are given win over the file.")
}

// load reads the configuration file, and sets the basis.
func (j *judging) load(cmd *cobra.Command) (err error) {
	var file *config.File
	if j.file != "" {
		var from config.Configuration
		if from, file, err = j.read(j.file, cmd.InOrStdin()); err != nil {
			return err
		}
		if given := cmd.Flags().Lookup("eviction-method"); given == nil || !given.Changed {
			j.settings.EvictionMethod = from.EvictionMethod
		}
		if !cmd.Flags().Changed("comparison-operators") {
			j.settings.ComparisonOperators = from.ComparisonOperators
		}
		j.settings.Paused = from.Paused
	}
	if refusals := j.settings.Validate(); len(refusals) > 0 {
		return refusals[0] // only one flag can be refused here
	}
	j.basis, err = basisOf(j.settings, file)
	return err
}

// basisOf returns the basis of these settings and the other content of the file, which may be nil.
func basisOf(c config.Configuration, file *config.File) (foresight.Basis, error) {
	by := policy.Config{Rules: c.Rules(), Method: c.EvictionMethod.Policy()}
	if file != nil {
		by.Policies, by.Guards = file.Policies, file.Guards
	}
	basis, err := foresight.NewBasis(by, c.Paused)
	if err != nil {
		return basis, fmt.Errorf("the configuration is refused: %w", err)
	}
	return basis, nil
}

// asIfNow is the note on deadlines that count from when a manager first saw a trigger, which the journal does not tell.
const asIfNow = "a NoSchedule taint counts from when a manager with such a policy first saw it; where no journal tells when, here as if that were now, and a manager that saw it earlier evicts earlier"

// unknownNamespaces returns a clause about the namespaces whose labels a policy needs and that are not known.
func (s *seen) unknownNamespaces() []string {
	missing := s.UnknownNamespaces()
	if len(missing) == 0 {
		return nil
	}
	why := s.spaces
	if why == "" {
		why = "they are missing in what was read"
	}
	return []string{fmt.Sprintf("the labels of %s (%s) are not known (%s), and policies select by them: their pods count as held", namespacesIn(len(missing)), fewOf(missing), why)}
}

// unknownMatches returns a clause about the policies of which it is not known whether they match pods on these nodes.
func (s *seen) unknownMatches(nodes []string) []string {
	names := s.UnknownMatches(nodes)
	if len(names) == 0 {
		return nil
	}
	which := "the nodeSelector of policy " + names[0] + " matches"
	if len(names) > 1 {
		which = "the nodeSelectors of " + fmt.Sprintf("%d policies (%s)", len(names), fewOf(names)) + " match"
	}
	return []string{"this user may not list nodes, so which of them " + which + " is not known: here none, and so pods may go at another time, be held or stay, and others may go"}
}

func namespacesIn(n int) string {
	if n == 1 {
		return "one namespace"
	}
	return fmt.Sprintf("%d namespaces", n)
}
