package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value decodes one value with all its parts, and sets the settings in them. It returns the value for package json; nil
// if the value is refused.
func (d *decoder) value(n *yaml.Node, s *shape, path string) any {
	d.nodes[path] = n
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.refuse(path, "anchors and aliases are not taken", "write the value itself")
	case n.Tag != "" && n.Style&yaml.TaggedStyle != 0:
		d.refuse(path, "tags such as "+shortened(n.Tag)+" are not taken", "write the value alone")
	case n.ShortTag() == "!!null" || n.Kind != yaml.ScalarNode && len(n.Content) == 0:
		d.refuse(path, "it is empty", "leave it out, or write "+s.allowed())
	case s.Items != nil:
		return d.list(n, s, path)
	case s.parse == nil:
		return d.object(n, s, path)
	case n.Kind != yaml.ScalarNode:
		d.refuse(path, "it takes "+s.allowed(), "write one value")
	default:
		return d.single(n, s, path)
	}
	return nil
}

// object decodes the fields of an object. Refused fields are left out.
func (d *decoder) object(n *yaml.Node, s *shape, path string) any {
	if n.Kind != yaml.MappingNode {
		d.refuse(path, "it takes "+s.allowed(), "write them indented below it")
		return nil
	}
	values, seen := map[string]any{}, map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := join(path, shortened(key.Value))
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "":
			d.refuseField(key.Line, path, shown(key), "names of fields are texts", "it takes "+s.allowed())
		case seen[key.Value]:
			d.refuseField(key.Line, at, shown(value), "the field is there twice", "leave one out")
		default:
			if decoded := d.entry(key, value, s, at); decoded != nil {
				values[key.Value] = decoded
			}
		}
		seen[key.Value] = true
	}
	for _, name := range s.Required {
		if !seen[name] {
			d.refuse(join(path, name), "it is missing", "it takes "+s.Properties[name].allowed())
		}
	}
	return values
}

// entry decodes one field of an object, or one label.
func (d *decoder) entry(key, value *yaml.Node, s *shape, at string) any {
	if s.isLabels() {
		d.nodes[at] = value
		if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" {
			d.refuse(at, "it takes text", "put it in quotes")
			return nil
		}
		return value.Value
	}
	property := s.Properties[key.Value]
	if property == nil {
		d.refuseField(key.Line, at, shown(value), "there is no such field", "there are "+strings.Join(s.names, ", "))
		return nil
	}
	return d.value(value, property, at)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// list decodes a list. Refused items are nil, so that the others keep their indexes.
func (d *decoder) list(n *yaml.Node, s *shape, path string) any {
	if n.Kind != yaml.SequenceNode {
		d.refuse(path, "it takes a list", "write it as [...], or each item after '- '")
		return nil
	}
	values := make([]any, len(n.Content))
	for i, item := range n.Content {
		values[i] = d.value(item, s.Items, fmt.Sprintf("%s[%d]", path, i))
	}
	if !slices.Contains(values, nil) {
		d.write(n, s, path, values...)
	}
	return values
}

// single decodes a value without parts.
func (d *decoder) single(n *yaml.Node, s *shape, path string) any {
	value, ok := s.read(n)
	switch {
	case !ok && s.Pattern == durationPattern:
		d.refuse(path, "it takes "+s.takes, "write "+suggestedDuration(n.Value))
	case !ok:
		d.refuse(path, "it takes "+s.allowed(), s.nextAfterKind(n))
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, n.Value):
		d.refuse(path, "it takes "+s.allowed(), s.nextAfterWord(n.Value))
	default:
		d.write(n, s, path, value)
		return value
	}
	return nil
}

// write sets the setting of a shape to these items, or to a single value. Shapes of policies and guards have no setting.
func (d *decoder) write(n *yaml.Node, s *shape, path string, values ...any) {
	if s.setting == nil {
		return
	}
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	d.file.Set[s.setting.Flag] = n.Line
	if err := s.setting.set(texts); err != nil {
		d.refuse(path, "it takes "+s.allowed(), s.setting.next)
	}
}
