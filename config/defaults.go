package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Defaults returns a configuration file with the current values of these settings, each with a comment that describes
// it.
func Defaults(settings []Setting) string {
	text := fmt.Sprintf("apiVersion: %s\nkind: %s\n", APIVersion, Kind)
	for _, f := range fileShape(settings).fields {
		if printed := f.print(""); printed != "" {
			text += "\n" + printed
		}
	}
	return text
}

// print returns the settings of a field; "" if none has a value.
func (f *field) print(indent string) string {
	if f.setting != nil {
		return f.printSetting(indent)
	}
	var settings string
	for i := range f.fields {
		settings += f.fields[i].print(indent + "  ")
	}
	if settings == "" {
		return ""
	}
	return fmt.Sprintf("%s%s:\n%s", indent, f.name, settings)
}

func (f *field) printSetting(indent string) string {
	value := f.setting.textInFile(f.kind)
	if value == "[]" {
		return ""
	}
	var lines strings.Builder
	for _, line := range wrapped(f.about, 100-len(indent)) {
		fmt.Fprintf(&lines, "%s# %s\n", indent, line)
	}
	fmt.Fprintf(&lines, "%s%s: %s\n", indent, f.name, value)
	return lines.String()
}

// textInFile returns the value in the file's notation.
func (s *Setting) textInFile(k *kind) string {
	switch value := s.Value.(type) {
	case *Method:
		return value.written()
	case listValue:
		return inYAML(value.GetSlice())
	}
	if k == text {
		return inYAML(s.Text())
	}
	return s.Text()
}

// inYAML returns a text or a list of texts on one line.
func inYAML(value any) string {
	node := yaml.Node{}
	if err := node.Encode(value); err != nil {
		panic(err) // texts can be encoded
	}
	node.Style |= yaml.FlowStyle
	written, err := yaml.Marshal(&node)
	if err != nil {
		panic(err)
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
