package config

import (
	"fmt"
	"time"
)

// Validate returns every setting that is refused, in a fixed order; none when c can be run with.
func (c Configuration) Validate() []Refusal {
	var refusals []Refusal
	for _, s := range c.Settings() {
		if s.refused {
			refusals = append(refusals, s.refusal(s.Text()))
		}
	}
	return refusals
}

// Unreadable is the refusal of a text that can't be read as what the flag takes, such as a word where
// a number belongs: the same as that of a number which is not allowed. known is false for flags that
// are no setting of a Configuration, or take any value of their type.
func Unreadable(flag, text string) (r Refusal, known bool) {
	d := Default()
	for _, s := range d.Settings() {
		if s.Flag == flag && s.takes != "" {
			return s.refusal(text), true
		}
	}
	return Refusal{}, false
}

func (s Setting) refusal(value string) Refusal {
	return Refusal{Flag: s.Flag, Value: value, Allowed: "it takes " + s.takes, Next: s.next}
}

// Help is the help of the flag, with the values that it takes.
func (s Setting) Help() string {
	if s.takes == "" {
		return s.Usage
	}
	return s.Usage + " Takes " + s.takes + "."
}

// Text is the value as the flag takes it.
func (s Setting) Text() string {
	switch value := s.Value.(type) {
	case *bool:
		return fmt.Sprint(*value)
	case *int:
		return fmt.Sprint(*value)
	case *float32:
		return fmt.Sprint(*value)
	case *float64:
		return fmt.Sprint(*value)
	case *string:
		return *value
	case *Method:
		return string(*value)
	case *time.Duration:
		return value.String()
	case FlagValue:
		return value.String()
	}
	panic(fmt.Sprintf("config: --%s has a value of type %T", s.Flag, s.Value))
}
