package config

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Setting is one setting: a flag, and a field of the configuration file.
type Setting struct {
	Flag  string      // without the dashes
	Field string      // of the configuration file, such as eviction.workers
	Value pflag.Value // a field of a Configuration, or an option of a component of Kubernetes
	Usage string      // the help of the flag, without the allowed values
	Live  bool        // whether a running process takes in a change; otherwise a change needs a restart

	rule
	words []string // the allowed values in the spelling of the file, if the file spells them differently
	next  string   // the next step after a value is refused
}

// NewSetting returns the setting of a flag that sets no field of a Configuration.
func NewSetting(f *pflag.Flag, field, takes, next string) Setting {
	return Setting{Flag: f.Name, Field: field, Usage: f.Usage, Value: f.Value, rule: takesOnly(takes), next: next}
}

// setting returns the setting of the field to which a pointer points. next is the next step after a value is refused.
func setting(flag, field string, to any, usage string, r rule, next string) Setting {
	return Setting{Flag: flag, Field: field, Value: flagValue(to), Usage: usage, rule: r, next: next}
}

// takesOnly returns a rule that refuses nothing.
func takesOnly(takes string) rule {
	if takes == "" {
		return rule{}
	}
	return rule{takes: takes, must: "Takes " + takes + "."}
}

// live returns the setting as one of which a running process takes in a change.
func (s Setting) live() Setting {
	s.Live = true
	return s
}

// flagValue returns the value of a flag that sets the field to which a pointer points.
func flagValue(field any) pflag.Value {
	const name = "field"
	var fs pflag.FlagSet
	switch to := field.(type) {
	case *bool:
		fs.BoolVar(to, name, *to, "")
	case *int:
		fs.IntVar(to, name, *to, "")
	case *float32:
		fs.Float32Var(to, name, *to, "")
	case *float64:
		fs.Float64Var(to, name, *to, "")
	case *string:
		fs.StringVar(to, name, *to, "")
	case *time.Duration:
		fs.DurationVar(to, name, *to, "")
	case *Method:
		return methodValue{to}
	default:
		panic(fmt.Sprintf("config: no flag sets a %T", field))
	}
	return fs.Lookup(name).Value
}

// methodValue is the value of a flag for a method.
type methodValue struct{ to *Method }

func (m methodValue) String() string { return string(*m.to) }
func (m methodValue) Type() string   { return "string" }

// Set accepts the spelling of flags and the spelling of files, delete and Delete. Validation refuses any other text.
func (m methodValue) Set(text string) error {
	*m.to = Method(text)
	for _, known := range methods() {
		if text == string(known.Policy()) {
			*m.to = known
		}
	}
	return nil
}

// Help returns the help of the flag, with the allowed values.
func (s *Setting) Help() string { return s.help(nil) }

// help returns the help with the allowed values, which are the words if there are any.
func (s *Setting) help(words []string) string {
	switch {
	case len(words) > 0:
		return s.Usage + " " + mustBe(words)
	case s.takes == "":
		return s.Usage
	}
	return s.Usage + " " + cmp.Or(s.must, "Must be "+s.takes+".")
}

// texts returns the items of a list, or a single value.
func (s *Setting) texts() []string {
	if list, ok := s.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{s.Value.String()}
}

func (s *Setting) set(texts []string) error {
	if list, ok := s.Value.(pflag.SliceValue); ok {
		return list.Replace(texts)
	}
	return s.Value.Set(texts[0])
}

// Copy sets the settings whose flags are selected to their values in from, which has the same settings in the same
// order.
func Copy(to, from []Setting, selected func(flag string) bool) error {
	for i := range to {
		if !selected(to[i].Flag) {
			continue
		}
		if err := to[i].set(from[i].texts()); err != nil {
			return fmt.Errorf("copying the setting --%s: %w", to[i].Flag, err)
		}
	}
	return nil
}

// shape returns the shape of the setting in the file. toFields replaces flags by fields in the help.
func (s *Setting) shape(toFields *strings.Replacer) shape {
	result := cmp.Or(leaves[s.Value.Type()], &text).of("", s.words...)
	if _, ok := s.Value.(pflag.SliceValue); ok {
		result = listShape(result, "")
	}
	result.setting = s
	result.Description = toFields.Replace(s.help(s.words))
	if s.Live {
		result.Description += " A change takes effect without a restart."
	}
	if s.most > s.least {
		result.Minimum, result.Maximum = &s.least, &s.most
	}
	return result
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
// known is false if the flag is not a setting of a Configuration, or accepts any value of its type.
func Unreadable(flag, text string) (r Refusal, known bool) {
	d := Default()
	for _, s := range d.Settings() {
		if s.Flag == flag && s.takes != "" {
			return s.refusal(text), true
		}
	}
	return Refusal{}, false
}
