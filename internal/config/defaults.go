package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// Defaults returns a configuration file with the current values of these settings, which are not none. The description
// of a setting is a comment above the setting.
func Defaults(settings []Setting) string {
	var text bytes.Buffer
	fmt.Fprintf(&text, "apiVersion: %s\nkind: %s\n", APIVersion, Kind)
	for property := range slices.Chunk(fileShape(settings).values("").Content, 2) {
		text.WriteByte('\n')
		encoder := yaml.NewEncoder(&text)
		encoder.SetIndent(2)
		_ = encoder.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: property}) // to memory
	}
	return text.String()
}

// values returns the current values; nil if there are only empty lists.
func (s *shape) values(indent string) *yaml.Node {
	if s.setting != nil {
		return s.setting.valueInFile()
	}
	object := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range s.names {
		property := s.Properties[name]
		if value := property.values(indent + "  "); value != nil {
			key := &yaml.Node{Kind: yaml.ScalarNode, Value: name}
			key.HeadComment = wrapped(property.Description, 100-len(indent))
			object.Content = append(object.Content, key, value)
		}
	}
	if len(object.Content) == 0 {
		return nil
	}
	return object
}

// valueInFile returns the value in the notation of the file; nil for an empty list.
func (s *Setting) valueInFile() *yaml.Node {
	value := yaml.Node{Kind: yaml.ScalarNode, Value: s.Value.String()}
	for _, word := range s.words {
		if strings.EqualFold(word, value.Value) {
			value.Value = word
		}
	}
	if list, ok := s.Value.(pflag.SliceValue); ok {
		if len(list.GetSlice()) == 0 {
			return nil
		}
		_ = value.Encode(list.GetSlice()) // texts
		value.Style = yaml.FlowStyle
	} else if leaves[s.Value.Type()] == nil {
		value.SetString(value.Value)
	}
	return &value
}

// wrapped breaks a text into lines of at most width bytes, except for longer words.
func wrapped(s string, width int) string {
	var lines []string
	for _, word := range strings.Fields(s) {
		last := len(lines) - 1
		if last < 0 || len(lines[last])+1+len(word) > width {
			lines = append(lines, word)
			continue
		}
		lines[last] += " " + word
	}
	return strings.Join(lines, "\n")
}
