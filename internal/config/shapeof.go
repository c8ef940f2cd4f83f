package config

import (
	_ "embed"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
)

// fileShape returns the shape of the whole file: apiVersion and kind, the settings, and the fields of [File].
func fileShape(settings []Setting) *shape {
	root := objectShape()
	root.Version, root.Title = "http://json-schema.org/draft-07/schema#", Kind
	root.Description = "The configuration of taint-manager. Whatever is left out keeps its default."
	root.set("apiVersion", text.shape("The version of this format.", APIVersion), true)
	root.set("kind", text.shape("The kind of this object.", Kind), true)
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

// descriptionOf returns the description of a field.
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
	if k := kinds[t.String()]; k != nil {
		return k.shape(about)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem(), name)
	case reflect.Slice:
		return listShape(shapeOf(t.Elem(), name+"[]"), about)
	case reflect.Struct:
		object := objectShape()
		object.Description = about
		object.setFields(t)
		return object
	case reflect.Map:
		return shape{Type: "object", MinProperties: 1, AdditionalProperties: text.shape(""), Description: about}
	}
	return text.shape(about, enums[t]...)
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
