package config

import (
	"strings"
)

// kind is the kind of a field's value in the file.
type kind int

const (
	object kind = iota
	list
	labels // an object with texts as values
	text
	boolean
	integer
	number
	duration
	share  // a whole number or a percentage
	moment // a time of day and date
)

// shape describes the allowed values in the file: Decode uses it, and Schema is derived from it.
type shape struct {
	kind   kind
	about  string   // the description
	fields []field  // of an object
	items  *shape   // of a list
	words  []string // allowed values of a text; none means any

	// hints are the next steps for refused words that are often used by mistake.
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

// put adds a setting at its path, with the objects around it.
func (s *shape) put(path string, setting *Setting, words *strings.Replacer) {
	name, rest, deeper := strings.Cut(path, ".")
	f := s.child(name)
	if f == nil {
		s.fields = append(s.fields, field{name: name})
		f = &s.fields[len(s.fields)-1]
	}
	if deeper {
		f.put(rest, setting, words)
		return
	}
	f.shape = setting.shape()
	f.about = words.Replace(setting.helpInFile(&f.shape))
}

// fileShape returns the shape of the whole file, with these settings.
func fileShape(settings []Setting) *shape {
	root := &shape{about: "The configuration of taint-manager. Whatever is left out keeps its default.", fields: []field{
		{"apiVersion", true, shape{kind: text, words: []string{APIVersion}, about: "The version of this format."}},
		{"kind", true, shape{kind: text, words: []string{Kind}, about: "The kind of this object."}},
	}}
	words := fieldWords(settings)
	for i := range settings {
		root.put(settings[i].Field, &settings[i], words)
	}
	root.fields = append(root.fields,
		field{name: "policies", shape: policiesShape()},
		field{name: "guards", shape: guardsShape()},
	)
	return root
}
