package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// value checks one value with all its parts, and writes settings.
func (d *decoder) value(n *yaml.Node, s *shape, path string) {
	d.nodes[path] = n
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.refuse(n, path, "anchors and aliases are not taken", "write the value itself")
	case n.Tag != "" && n.Style&yaml.TaggedStyle != 0:
		d.refuse(n, path, "tags such as "+shortened(n.Tag)+" are not taken", "write the value alone")
	case n.ShortTag() == "!!null" || n.Kind != yaml.ScalarNode && len(n.Content) == 0:
		d.refuse(n, path, "it is empty", "leave it out, or write "+s.allowed())
	case s.kind == object || s.kind == labels:
		d.object(n, s, path)
	case s.kind == list:
		d.list(n, s, path)
	case n.Kind != yaml.ScalarNode:
		d.refuse(n, path, "it takes "+s.allowed(), "write one value")
	default:
		d.scalar(n, s, path)
	}
}

func (d *decoder) object(n *yaml.Node, s *shape, path string) {
	if n.Kind != yaml.MappingNode {
		d.refuse(n, path, "it takes "+s.allowed(), "write them indented below it")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := join(path, shortened(key.Value))
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "":
			d.refuse(key, path, "names of fields are texts", "it takes "+s.allowed())
		case seen[key.Value]:
			d.refuseField(key.Line, at, shown(value), "the field is there twice", "leave one out")
		default:
			d.entry(key, value, s, at)
		}
		seen[key.Value] = true
	}
	for _, f := range s.fields {
		if f.required && !seen[f.name] {
			d.refuseField(n.Line, join(path, f.name), "", "it is missing", "it takes "+f.allowed())
		}
	}
}

// entry decodes one field of an object, or one label.
func (d *decoder) entry(key, value *yaml.Node, s *shape, at string) {
	if s.kind == labels {
		if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" {
			d.refuse(value, at, "it takes text", "put it in quotes")
		}
		d.nodes[at] = value
		return
	}
	f := s.child(key.Value)
	if f == nil {
		d.refuseField(key.Line, at, shown(value), "there is no such field", "there are "+s.names())
		return
	}
	d.value(value, &f.shape, at)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (d *decoder) list(n *yaml.Node, s *shape, path string) {
	if n.Kind != yaml.SequenceNode {
		d.refuse(n, path, "it takes a list", "write it as [...], or each item after '- '")
		return
	}
	for i, item := range n.Content {
		d.value(item, s.items, fmt.Sprintf("%s[%d]", path, i))
	}
	if s.setting != nil {
		d.write(n, s, path)
	}
}

// tags are YAML's tags of values of each kind without quotes.
var tags = map[kind][]string{
	text: {"!!str"}, boolean: {"!!bool"}, integer: {"!!int"}, number: {"!!int", "!!float"}, duration: {"!!str"},
	share: {"!!int", "!!str"}, moment: {"!!str", "!!timestamp"},
}

func (d *decoder) scalar(n *yaml.Node, s *shape, path string) {
	switch tag := n.ShortTag(); {
	case s.kind == text && tag != "!!str":
		d.refuse(n, path, "it takes "+s.allowed(), "put it in quotes if it is meant as text")
	case s.kind == duration && !isDuration(n):
		d.refuse(n, path, "it takes Go durations such as 90s, 30m or 1h30m", "write "+spelled(n))
	case !slices.Contains(tags[s.kind], tag) || !readable(n, s.kind):
		d.refuse(n, path, "it takes "+s.allowed(), s.example(n))
	case len(s.words) > 0 && !slices.Contains(s.words, n.Value):
		d.refuse(n, path, "it takes "+s.allowed(), s.hint(n.Value))
	case s.setting != nil:
		d.write(n, s, path)
	}
}

func isDuration(n *yaml.Node) bool {
	_, err := time.ParseDuration(n.Value)
	return err == nil && n.ShortTag() == "!!str" // only 0 is a number
}

var daysOrNumber = regexp.MustCompile(`^([0-9]{1,5})([dw]?)$`)

// spelled returns the duration in Go's syntax that may have been intended.
func spelled(n *yaml.Node) string {
	found := daysOrNumber.FindStringSubmatch(n.Value)
	if found == nil {
		return "such a duration"
	}
	count, _ := strconv.Atoi(found[1])
	switch found[2] {
	case "d":
		return fmt.Sprintf("%dh for days of 24 hours", 24*count)
	case "w":
		return fmt.Sprintf("%dh for weeks of 168 hours", 168*count)
	}
	return found[1] + "s for seconds"
}

// readable reports whether the YAML value is one of the kind, in its usual notation.
func readable(n *yaml.Node, k kind) bool {
	var err error
	switch k {
	case boolean:
		_, err = strconv.ParseBool(n.Value)
	case integer:
		_, err = strconv.ParseInt(n.Value, 10, 32)
	case number:
		_, err = strconv.ParseFloat(n.Value, 64)
	case share:
		if n.ShortTag() == "!!int" {
			_, err = strconv.ParseInt(n.Value, 10, 32)
		}
	case moment:
		_, err = time.Parse(time.RFC3339, n.Value)
	}
	return err == nil
}

// write sets a setting.
func (d *decoder) write(n *yaml.Node, s *shape, path string) {
	setting := s.setting
	d.file.Set[setting.Flag] = n.Line
	if d.kept(setting.Flag) {
		return
	}
	if err := setting.write(n); err != nil {
		d.refuse(n, path, "it takes "+s.allowed(), s.example(n))
	}
}

// allowed describes the allowed values of the shape.
func (s *shape) allowed() string {
	switch {
	case s.setting != nil && s.setting.takes != "" && len(s.words) == 0:
		return s.setting.takes
	case s.kind == object:
		return "fields: " + s.names()
	case s.kind == labels:
		return "labels such as app: db"
	case len(s.words) > 0:
		return orWords(s.words)
	}
	return [...]string{
		list: "a list", text: "text", boolean: "true or false", integer: "whole numbers from -2147483648 to 2147483647", number: "numbers",
		duration: "Go durations such as 90s, 30m or 1h30m", share: "a whole number, or a percentage such as 50%",
		moment: "moments such as 2026-11-22T10:00:00Z",
	}[s.kind]
}

// example returns the next step for a value that cannot be read.
func (s *shape) example(n *yaml.Node) string {
	if n.ShortTag() == "!!str" && n.Style != 0 && slices.Contains([]kind{boolean, integer, number}, s.kind) {
		return "write it without quotes"
	}
	if s.setting != nil && s.setting.next != "" {
		return s.setting.next
	}
	return map[kind]string{
		boolean: "write true or false", integer: "write digits alone", number: "write it as 20 or 0.5",
		share: "write it as 10 or 50%", moment: "write it in quotes",
	}[s.kind]
}

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
