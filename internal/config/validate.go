package config

// Validate returns every refused setting, in a fixed order; none if c is valid.
func (c Configuration) Validate() []Refusal {
	var refusals []Refusal
	for _, s := range c.Settings() {
		if s.refused {
			refusals = append(refusals, s.refusal(s.Text()))
		}
	}
	return refusals
}

// Unreadable returns the refusal of a text that is not a value of the flag's type, such as a word instead of a number:
// the same as that of a number that is not allowed. known is false for flags that are not settings of a Configuration,
// or that accept any value of their type.
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

// Help returns the help of the flag, with the allowed values.
func (s Setting) Help() string {
	if s.takes == "" {
		return s.Usage
	}
	return s.Usage + " Takes " + s.takes + "."
}
