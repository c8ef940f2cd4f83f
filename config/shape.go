package config

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// shape describes the allowed values of a part of the file. The decoder, the schema and the printed defaults follow
// from the shape of the file.
type shape struct {
	about string // the description

	// Either of these is set; none for an object without fields, which is one of labels.
	kind   *kind   // of a single value
	items  *shape  // of a list
	fields []field // of an object

	most int // items of a list; 0 means any number

	// words are the allowed values of a text; none means any. hints are the next steps after words that are often
	// used by mistake.
	words []string
	hints map[string]string

	// setting receives the value; nil for policies and guards.
	setting *Setting
}

// field is a field of an object.
type field struct {
	name     string
	required bool
	shape
}

// isLabels reports whether the values are objects with any names and texts as values.
func (s *shape) isLabels() bool { return s.kind == nil && s.items == nil && s.fields == nil }

// child returns the field with this name; nil if there is none.
func (s *shape) child(name string) *field {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

func (s *shape) names() string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}

// allowed describes the allowed values.
func (s *shape) allowed() string {
	switch {
	case len(s.words) > 0:
		return orWords(s.words)
	case s.setting != nil && s.setting.takes != "":
		return s.setting.takes
	case s.kind != nil:
		return s.kind.takes
	case s.items != nil:
		return "a list"
	case s.isLabels():
		return "labels such as app: db"
	}
	return "fields: " + s.names()
}

// hint returns the next step after a word that is not allowed.
func (s *shape) hint(word string) string {
	if hint := s.hints[word]; hint != "" {
		return hint
	}
	for _, known := range s.words {
		if strings.EqualFold(known, word) || len(s.words) == 1 {
			return "write " + known
		}
	}
	return "choose one of them"
}

// put adds a setting at its path, with the objects around it.
func (s *shape) put(path string, setting shape) {
	name, rest, deeper := strings.Cut(path, ".")
	f := s.child(name)
	if f == nil {
		s.fields = append(s.fields, field{name: name})
		f = &s.fields[len(s.fields)-1]
	}
	if deeper {
		f.put(rest, setting)
		return
	}
	f.shape = setting
}

// nextAfter returns the next step after a value of another kind.
func (s *shape) nextAfter(n *yaml.Node) string {
	quoted := n.ShortTag() == "!!str" && n.Style != 0
	switch {
	case quoted && !slices.Contains(s.kind.tags, "!!str"):
		return "write it without quotes"
	case s.kind != text && s.setting != nil && s.setting.next != "":
		return s.setting.next
	}
	return s.kind.next
}
