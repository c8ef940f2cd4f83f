package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	sigsyaml "sigs.k8s.io/yaml"
)

// form finds what the strict decoder of sigs.k8s.io/yaml would refuse one at a time and mostly without a line: unknown,
// duplicate and missing fields, and values of the wrong type. It removes them from the tree, so that the rest can be
// decoded and validated.
type form struct {
	name      string
	errs      []error
	malformed []string       // the paths of values of the wrong form
	missing   map[string]int // the paths of required fields, and the indexes of their errors
}

// check reports whether the value has the form of the type.
func (f *form) check(n *yaml.Node, t reflect.Type, at *field.Path) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	isLeaf := reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return f.refuse(n, at, "anchors and aliases are not supported")
	case !isLeaf && t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		f.checkFields(n, t, at)
		return true
	case !isLeaf && t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			if len(f.errs) > maxErrors || !f.check(item, t.Elem(), at.Index(i)) {
				n.Content[i] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} // keeps the indexes
			}
		}
		return true
	}
	text, err := toJSON(n)
	if err == nil {
		err = sigsyaml.Unmarshal(text, reflect.New(t).Interface())
	}
	if err != nil {
		message := "must be " + expected(t)
		if t.Kind() != reflect.String && !isLeaf && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			message += " without quotes"
		}
		return f.refuse(n, at, message)
	}
	return true
}

// toJSON encodes the value, not its text, because sigs.k8s.io/yaml reads a namespace "no" as false, then as "false".
func toJSON(n *yaml.Node) ([]byte, error) {
	var value any
	if err := n.Decode(&value); err != nil {
		return nil, fmt.Errorf("decoding: %w", err)
	}
	return json.Marshal(value)
}

// checkFields checks the fields of an object, and removes those that are refused.
func (f *form) checkFields(n *yaml.Node, t reflect.Type, at *field.Path) {
	known, names := fieldsOf(t)
	seen, content := map[string]bool{}, n.Content
	n.Content = nil
	for i := 0; i+1 < len(content); i += 2 {
		key, value := content[i], content[i+1]
		path := at.Child(clip(key.Value))
		k := slices.Index(names, key.Value)
		switch {
		case len(f.errs) > maxErrors:
			return
		case key.Kind != yaml.ScalarNode:
			f.refuse(key, at, "the name of a field must be a string")
		case k < 0:
			f.refuse(key, path, "unknown field; supported fields: "+strings.Join(names, ", "))
		case seen[key.Value]:
			f.refuse(key, path, "duplicate field")
		case value.ShortTag() == "!!null": // as if it were omitted
		case f.check(value, known[k].typ, path):
			n.Content = append(n.Content, key, value)
		}
		seen[key.Value] = seen[key.Value] || value.ShortTag() != "!!null"
	}
	for _, s := range known {
		if s.required && !seen[s.name] {
			message := "Required value"
			if s.typ == reflect.TypeFor[intstr.IntOrString]() { // Validate allows its zero value
				message += ": must be " + expected(s.typ)
			}
			f.missing[at.Child(s.name).String()] = len(f.errs)
			f.refuse(n, at.Child(s.name), message)
		}
	}
}

// refuse refuses the value at a path. It returns false.
func (f *form) refuse(n *yaml.Node, at *field.Path, message string) bool {
	path := ""
	if at != nil {
		path = at.String() + ": "
		f.malformed = append(f.malformed, at.String())
	}
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(message, "must") {
		message = fmt.Sprintf("Invalid value: %q: %s", clip(n.Value), message)
	}
	f.errs = append(f.errs, fmt.Errorf("%s:%d: %s%s", f.name, n.Line, path, message))
	return false
}

// structField is a field of a struct. flag is the name of the flag that sets it, if there is one.
type structField struct {
	name, flag string
	typ        reflect.Type
	required   bool
}

// fieldsOf returns the fields of a struct, and their names in JSON. A field without omitempty or omitzero is required.
func fieldsOf(t reflect.Type) (fields []structField, names []string) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			required := !strings.Contains(options, "omit")
			fields, names = append(fields, structField{name, f.Tag.Get("flag"), f.Type, required}), append(names, name)
		}
	}
	return fields, names
}

// expected describes the values of a type.
func expected(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[metav1.Duration]():
		return "a duration such as 90s, 30m or 1h30m"
	case reflect.TypeFor[metav1.Time]():
		return "a time such as 2026-11-22T10:00:00Z"
	case reflect.TypeFor[intstr.IntOrString]():
		return "a whole number, or a percentage such as 50%"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "a YAML mapping"
	case reflect.Int32:
		return "a whole number from -2147483648 to 2147483647"
	case reflect.Map:
		return "a map of unique keys to strings"
	}
	return "a whole number"
}
