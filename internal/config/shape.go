package config

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
)

// shape describes the allowed values of a part of the file. Its exported fields are the JSON Schema of that part, in
// the order of the alphabet.
type shape struct {
	Version              string            `json:"$schema,omitempty"`
	AdditionalProperties any               `json:"additionalProperties,omitempty"`
	AnyOf                []shape           `json:"anyOf,omitempty"`
	Description          string            `json:"description,omitempty"`
	Enum                 []string          `json:"enum,omitempty"`
	Format               string            `json:"format,omitempty"`
	Items                *shape            `json:"items,omitempty"`
	MaxItems             int               `json:"maxItems,omitempty"`
	Maximum              *float64          `json:"maximum,omitempty"`
	MinItems             int               `json:"minItems,omitempty"`
	MinProperties        int               `json:"minProperties,omitempty"`
	Minimum              *float64          `json:"minimum,omitempty"`
	Pattern              string            `json:"pattern,omitempty"`
	Properties           map[string]*shape `json:"properties,omitempty"`
	Required             []string          `json:"required,omitempty"`
	Title                string            `json:"title,omitempty"`
	Type                 string            `json:"type,omitempty"`

	kind    *kind    // of a single value
	names   []string // of the properties, in their order
	setting *Setting // receives the value; nil for policies and guards
}

// objectShape returns the shape of an object without properties.
func objectShape() shape {
	return shape{Type: "object", MinProperties: 1, AdditionalProperties: false, Properties: map[string]*shape{}}
}

// listShape returns the shape of a list of these items.
func listShape(items shape, about string) shape {
	return shape{Type: "array", MinItems: 1, Items: &items, Description: about}
}

// isLabels reports whether the shape is that of labels: an object with fields of any name, whose values are texts.
func (s *shape) isLabels() bool { return s.Type == "object" && s.AdditionalProperties != false }

// set adds a property.
func (s *shape) set(name string, property shape, required bool) {
	s.names, s.Properties[name] = append(s.names, name), &property
	if required {
		s.Required = append(s.Required, name)
	}
}

// put adds a property at a path, and the objects around the property.
func (s *shape) put(path string, property shape) {
	name, rest, deeper := strings.Cut(path, ".")
	switch {
	case !deeper:
		s.set(name, property, false)
		return
	case s.Properties[name] == nil:
		s.set(name, objectShape(), false)
	}
	s.Properties[name].put(rest, property)
}

// allowed describes the allowed values.
func (s *shape) allowed() string {
	switch {
	case len(s.Enum) > 0:
		return orWords(s.Enum)
	case s.setting != nil && s.setting.takes != "":
		return s.setting.takes
	case s.kind != nil:
		return s.kind.takes
	case s.Items != nil:
		return "a list"
	case s.isLabels():
		return "labels such as app: db"
	}
	return "fields: " + strings.Join(s.names, ", ")
}

// nextAfterWord returns the next step after a word that is not allowed.
func (s *shape) nextAfterWord(word string) string {
	if word == string(v1.TaintEffectPreferNoSchedule) {
		return "schedulers may ignore PreferNoSchedule, so it evicts no pod: leave it out"
	}
	for _, allowed := range s.Enum {
		if strings.EqualFold(allowed, word) || len(s.Enum) == 1 {
			return "write " + allowed
		}
	}
	return "choose one of them"
}

// nextAfterKind returns the next step after a value of another kind.
func (s *shape) nextAfterKind(n *yaml.Node) string {
	quoted := n.ShortTag() == "!!str" && n.Style != 0
	switch {
	case quoted && !slices.Contains(s.kind.tags, "!!str"):
		return "write it without quotes"
	case s.kind != text && s.setting != nil && s.setting.next != "":
		return s.setting.next
	}
	return s.kind.next
}
