package config

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
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

	tags  []string // YAML's tags of a single value
	takes string   // describes the single values
	next  string   // the next step after any other value

	// parse returns a single value; package json writes the result so that the types of policies read it. Nil for
	// objects and lists.
	parse func(n *yaml.Node) (any, error)

	names   []string // of the properties, in their order
	setting *Setting // receives the value; nil for policies and guards
}

// Schema returns the JSON Schema of a configuration file with these settings, for editors. It describes the shape of a
// file and the bounds of single values; Decode checks more.
func Schema(settings []Setting) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(fileShape(settings)) // to memory
	return text.String()
}

// fileShape returns the shape of the whole file: apiVersion and kind, the settings, and the fields of [File].
func fileShape(settings []Setting) *shape {
	root := objectShape("The configuration of taint-manager. Whatever is left out keeps its default.")
	root.Version, root.Title = "http://json-schema.org/draft-07/schema#", Kind
	root.set("apiVersion", text.of("The version of this format.", APIVersion), true)
	root.set("kind", text.of("The kind of this object.", Kind), true)
	toFields := flagsToFields(settings)
	for i := range settings {
		root.put(settings[i].Field, settings[i].shape(toFields))
	}
	root.setFields(reflect.TypeFor[File]())
	root.Properties["policies"].MaxItems = policy.MaxPolicies
	return &root
}

// descriptions has a line for each field of the policies and guards: the type, the name and the description of the
// field. A line with [] describes the items of a list.
//
//go:embed descriptions.txt
var descriptions string

func descriptionOf(name string) string {
	_, rest, _ := strings.Cut("\n"+descriptions, "\n"+name+" ")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// enums are the allowed values of the types that have few.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[policy.Method]():                policy.Methods(),
	reflect.TypeFor[policy.Mode]():                  texts(policy.Enforce, policy.Audit),
	reflect.TypeFor[policy.Reset]():                 texts(policy.Automatic, policy.Manual),
	reflect.TypeFor[v1.TaintEffect]():               texts(v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule),
	reflect.TypeFor[metav1.LabelSelectorOperator](): {"In", "NotIn", "Exists", "DoesNotExist"},
}

// shapeOf returns the shape of the values that package json decodes into the type. name is the name of the field in
// descriptions.txt.
func shapeOf(t reflect.Type, name string) shape {
	about := descriptionOf(name)
	if leaf := leaves[t.String()]; leaf != nil {
		return leaf.of(about)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem(), name)
	case reflect.Slice:
		return listShape(shapeOf(t.Elem(), name+"[]"), about)
	case reflect.Struct:
		object := objectShape(about)
		object.setFields(t)
		return object
	case reflect.Map:
		label := text
		label.next = "put it in quotes"
		return shape{Type: "object", MinProperties: 1, AdditionalProperties: &label, Description: about}
	}
	return text.of(about, enums[t]...)
}

// of returns the shape of a single value with a description, and with these words if there are any.
func (s *shape) of(about string, words ...string) shape {
	result := *s
	result.Description, result.Enum = about, words
	return result
}

func objectShape(about string) shape {
	return shape{
		Type: "object", MinProperties: 1, AdditionalProperties: false, Properties: map[string]*shape{},
		Description: about,
	}
}

func listShape(items shape, about string) shape {
	return shape{Type: "array", MinItems: 1, Items: &items, Description: about}
}

// property returns the shape of a property; that of any label for labels. Nil if there is no such property.
func (s *shape) property(name string) *shape {
	if label, ok := s.AdditionalProperties.(*shape); ok {
		return label
	}
	return s.Properties[name]
}

// set adds a property.
func (s *shape) set(name string, property shape, required bool) {
	s.names, s.Properties[name] = append(s.names, name), &property
	if required {
		s.Required = append(s.Required, name)
	}
}

// setFields adds the fields of a struct. A field without omitempty or omitzero is required.
func (s *shape) setFields(t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			s.set(name, shapeOf(f.Type, t.Name()+"."+name), !strings.Contains(options, "omit"))
		}
	}
}

// put adds a property at a path, and the objects around the property.
func (s *shape) put(path string, property shape) {
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		s.set(name, property, false)
		return
	}
	if s.Properties[name] == nil {
		s.set(name, objectShape(""), false)
	}
	s.Properties[name].put(rest, property)
}

// allowed describes the allowed values.
func (s *shape) allowed() string {
	switch {
	case len(s.Enum) > 0:
		return JoinWords(s.Enum, "or")
	case s.setting != nil && s.setting.takes != "" && s.Pattern != durationPattern:
		return s.setting.takes
	case s.parse != nil:
		return s.takes
	case s.Items != nil:
		return "a list"
	case s.property("") != nil:
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
	_, plain := s.read(&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value})
	switch {
	case plain:
		return "write it without quotes"
	case !slices.Contains(s.tags, "!!str") && s.setting != nil && s.setting.next != "":
		return s.setting.next
	}
	return s.next
}
