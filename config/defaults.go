package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Defaults returns a configuration file with the current values of these settings, each with a comment that describes
// it.
func Defaults(settings []Setting) string {
	var out strings.Builder
	fmt.Fprintf(&out, "apiVersion: %s\nkind: %s\n", APIVersion, Kind)
	for _, f := range fileShape(settings).fields {
		if f.kind == object && f.name != "guards" || f.setting != nil {
			f.print(&out, "")
		}
	}
	return out.String()
}

func (f *field) print(out *strings.Builder, indent string) {
	if f.setting != nil && f.setting.isEmptyList() {
		return
	}
	if indent == "" {
		out.WriteString("\n")
	}
	if f.setting == nil {
		fmt.Fprintf(out, "%s%s:\n", indent, f.name)
		for i := range f.fields {
			f.fields[i].print(out, indent+"  ")
		}
		return
	}
	for _, line := range wrapped(f.about, 100-len(indent)) {
		fmt.Fprintf(out, "%s# %s\n", indent, line)
	}
	fmt.Fprintf(out, "%s%s: %s\n", indent, f.name, f.setting.textInFile(f.kind))
}

// helpInFile returns the help with the words of the file.
func (s *Setting) helpInFile(of *shape) string {
	help := s.Help()
	if len(of.words) > 0 {
		help = s.Usage + " Takes " + of.allowed() + "."
	}
	if s.Live {
		help += " A change takes effect without a restart."
	}
	return help
}

func (s *Setting) isEmptyList() bool {
	l, ok := s.Value.(listValue)
	return ok && len(l.GetSlice()) == 0
}

// textInFile returns the value in the file's notation.
func (s *Setting) textInFile(k kind) string {
	switch value := s.Value.(type) {
	case *Method:
		return value.written()
	case listValue:
		items := make([]string, len(value.GetSlice()))
		for i, item := range value.GetSlice() {
			items[i] = plainOrQuoted(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	if k == text {
		return plainOrQuoted(s.Text())
	}
	return s.Text()
}

var (
	plain    = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*$`)
	reserved = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|y|n|null|nan|inf)$`)
)

// plainOrQuoted omits quotes that YAML does not need.
func plainOrQuoted(s string) string {
	if plain.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
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
