package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// Setting is one setting: a flag, and a field of the configuration file.
type Setting struct {
	// Flag without the dashes.
	Flag string

	// Field of the configuration file, such as eviction.workers.
	Field string

	// Value reads and writes the value: a field of a Configuration, or an option of a component of Kubernetes.
	Value pflag.Value

	// Usage is the help of the flag, without the allowed values.
	Usage string

	// Live reports whether a running process takes in a change of the setting. Otherwise a change takes effect with a
	// restart.
	Live bool

	rule

	// words are the allowed values in the spelling of the file, if the file spells them differently.
	words []string

	// next is the next step after a value is refused.
	next string
}

// NewSetting returns the setting of a flag that sets no field of a Configuration.
func NewSetting(f *pflag.Flag, field, takes, next string) Setting {
	return Setting{Flag: f.Name, Field: field, Usage: f.Usage, Value: f.Value, rule: rule{takes: takes}, next: next}
}

// Help returns the help of the flag, with the allowed values.
func (s *Setting) Help() string {
	if s.takes == "" {
		return s.Usage
	}
	return s.Usage + " Takes " + s.takes + "."
}

// Copy sets settings to their values in from, which has the same settings in the same order. It sets those whose flags
// are selected.
func Copy(to, from []Setting, selected func(flag string) bool) error {
	for i := range to {
		if !selected(to[i].Flag) {
			continue
		}
		if err := to[i].copyFrom(from[i]); err != nil {
			return fmt.Errorf("copying the setting --%s: %w", to[i].Flag, err)
		}
	}
	return nil
}

func (s *Setting) copyFrom(other Setting) error {
	if list, ok := other.Value.(pflag.SliceValue); ok {
		return s.Value.(pflag.SliceValue).Replace(list.GetSlice())
	}
	return s.Value.Set(other.Value.String())
}

// write sets the setting to the value of n, which has the setting's shape.
func (s *Setting) write(n *yaml.Node, value any) error {
	list, ok := s.Value.(pflag.SliceValue)
	if !ok {
		return s.Value.Set(fmt.Sprint(value))
	}
	items := make([]string, len(n.Content))
	for i, item := range n.Content {
		items[i] = item.Value
	}
	return list.Replace(items)
}

// shape returns the shape of the setting in the file. toFields replaces flags by fields in the help.
func (s *Setting) shape(toFields *strings.Replacer) shape {
	result := cmp.Or(kinds[s.Value.Type()], text).shape("", s.words...)
	if _, ok := s.Value.(pflag.SliceValue); ok {
		result = listShape(result, "")
	}
	result.setting = s
	result.Description = toFields.Replace(s.helpInFile())
	if s.most > s.least {
		result.Minimum, result.Maximum = &s.least, &s.most
	}
	return result
}

// helpInFile returns the help in the spelling of the file.
func (s *Setting) helpInFile() string {
	help := s.Help()
	if len(s.words) > 0 {
		help = s.Usage + " Takes " + orWords(s.words) + "."
	}
	if s.Live {
		help += " A change takes effect without a restart."
	}
	return help
}

// refusal refuses a value of the flag.
func (s *Setting) refusal(value string) Refusal {
	return Refusal{Flag: s.Flag, Value: value, Allowed: "it takes " + s.takes, Next: s.next}
}

// Validate returns every refused setting, in a fixed order; none if c is valid.
func (c Configuration) Validate() []Refusal {
	var refusals []Refusal
	for _, s := range c.Settings() {
		if s.refused {
			refusals = append(refusals, s.refusal(s.Value.String()))
		}
	}
	return refusals
}

// Unreadable returns the refusal of a text that is not a value of the flag's type, such as a word instead of a number.
// It is the refusal of a number that is not allowed. known is false if the flag is not a setting of a Configuration, or
// accepts any value of its type.
func Unreadable(flag, text string) (r Refusal, known bool) {
	d := Default()
	for _, s := range d.Settings() {
		if s.Flag == flag && s.takes != "" {
			return s.refusal(text), true
		}
	}
	return Refusal{}, false
}
