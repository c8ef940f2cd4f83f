package config

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// Defaults returns a configuration file with the current values of these settings. The description of a setting is a
// comment above the setting.
func Defaults(settings []Setting) string {
	text, root := fmt.Sprintf("apiVersion: %s\nkind: %s\n", APIVersion, Kind), fileShape(settings)
	for _, name := range root.names {
		if printed := root.Properties[name].print(name, ""); printed != "" {
			text += "\n" + printed
		}
	}
	return text
}

// print returns the lines of a property; "" if the property only has empty lists.
func (s *shape) print(name, indent string) string {
	if s.setting != nil {
		return s.printSetting(name, indent)
	}
	var settings string
	for _, child := range s.names {
		settings += s.Properties[child].print(child, indent+"  ")
	}
	if settings == "" {
		return ""
	}
	return fmt.Sprintf("%s%s:\n%s", indent, name, settings)
}

func (s *shape) printSetting(name, indent string) string {
	value := s.setting.textInFile()
	if value == "[]" {
		return ""
	}
	var lines strings.Builder
	for _, line := range wrapped(s.Description, 100-len(indent)) {
		fmt.Fprintf(&lines, "%s# %s\n", indent, line)
	}
	fmt.Fprintf(&lines, "%s%s: %s\n", indent, name, value)
	return lines.String()
}

// textInFile returns the value in the notation of the file.
func (s *Setting) textInFile() string {
	written := s.Value.String()
	for _, word := range s.words {
		if strings.EqualFold(word, written) {
			return word
		}
	}
	if list, ok := s.Value.(pflag.SliceValue); ok {
		return inYAML(list.GetSlice())
	}
	if kinds[s.Value.Type()] == nil {
		return inYAML(written)
	}
	return written
}

// inYAML returns a text or a list of texts on one line.
func inYAML(value any) string {
	var node yaml.Node
	refused := node.Encode(value)
	node.Style |= yaml.FlowStyle
	written, err := yaml.Marshal(&node)
	if refused != nil || err != nil {
		return "[]" // neither a text nor a list
	}
	return strings.TrimSpace(string(written))
}

// wrapped breaks a text into lines of at most width bytes, except for longer words.
func wrapped(s string, width int) []string {
	var lines []string
	for _, word := range strings.Fields(s) {
		last := len(lines) - 1
		if last < 0 || len(lines[last])+1+len(word) > width {
			lines = append(lines, word)
			continue
		}
		lines[last] += " " + word
	}
	return lines
}
