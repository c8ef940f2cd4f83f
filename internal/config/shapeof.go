package config

import (
	_ "embed"
	"reflect"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/policy"
)

// fileShape returns the shape of the whole file: its head, these settings, and the fields of [File].
func fileShape(settings []Setting) *shape {
	root := objectShape()
	root.Version, root.Title = "http://json-schema.org/draft-07/schema#", Kind
	root.Description = "The configuration of taint-manager. Whatever is left out keeps its default."
	root.set("apiVersion", text.shape("The version of this format.", APIVersion), true)
	root.set("kind", text.shape("The kind of this object.", Kind), true)
	words := fieldWords(settings)
	for i := range settings {
		root.put(settings[i].Field, settings[i].shape(words))
	}
	root.setFields(reflect.TypeFor[File]())
	root.Properties["policies"].MaxItems = policy.MaxPolicies
	return &root
}

// descriptions has a line for each field of the policies and guards: its type and name, and its description. A line
// with [] describes the items of a list.
//
//go:embed descriptions.txt
var descriptions string

// described returns the description of a field.
func described(name string) string {
	_, rest, _ := strings.Cut("\n"+descriptions, "\n"+name+" ")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// kinds are the kinds of the types that are not written as their Go kind suggests.
var kinds = map[reflect.Type]*kind{
	reflect.TypeFor[time.Duration]():      duration,
	reflect.TypeFor[metav1.Duration]():    duration,
	reflect.TypeFor[metav1.Time]():        moment,
	reflect.TypeFor[intstr.IntOrString](): share,
}

// wordsOf are the values of the types that have few.
var wordsOf = map[reflect.Type][]string{
	reflect.TypeFor[Method](): {
		string(policy.Delete), string(policy.Evict),
		string(policy.Ignore),
	},
	reflect.TypeFor[policy.Method](): policy.Methods(),
	reflect.TypeFor[policy.Mode]():   {string(policy.Enforce), string(policy.Audit)},
	reflect.TypeFor[policy.Reset]():  {string(policy.Automatic), string(policy.Manual)},
	reflect.TypeFor[v1.TaintEffect](): {
		string(v1.TaintEffectNoExecute),
		string(v1.TaintEffectNoSchedule),
	},
	reflect.TypeFor[metav1.LabelSelectorOperator](): {"In", "NotIn", "Exists", "DoesNotExist"},
}

// shapeOf returns the shape of the values that package json decodes into the type. name is that of the field.
func shapeOf(t reflect.Type, name string) shape {
	about := described(name)
	if k := kinds[t]; k != nil {
		return k.shape(about)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem(), name)
	case reflect.Slice:
		items := shapeOf(t.Elem(), name+"[]")
		return shape{Type: "array", MinItems: 1, Items: &items, Description: about}
	case reflect.Struct:
		made := objectShape()
		made.Description = about
		made.setFields(t)
		return made
	case reflect.Map:
		return shape{Type: "object", MinProperties: 1, AdditionalProperties: text.shape(""), Description: about}
	case reflect.Bool:
		return boolean.shape(about)
	case reflect.Int, reflect.Int32:
		return integer.shape(about)
	case reflect.Float32, reflect.Float64:
		return number.shape(about)
	}
	return text.shape(about, wordsOf[t]...)
}

// setFields adds the fields of a struct. Those that package json writes even if they are empty are required.
func (s *shape) setFields(t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			s.set(name, shapeOf(f.Type, t.Name()+"."+name), !strings.Contains(options, "omit"))
		}
	}
}
