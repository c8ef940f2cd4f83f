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
	root := &shape{about: "The configuration of taint-manager. Whatever is left out keeps its default.", fields: []field{
		{"apiVersion", true, shape{kind: text, words: []string{APIVersion}, about: "The version of this format."}},
		{"kind", true, shape{kind: text, words: []string{Kind}, about: "The kind of this object."}},
	}}
	words := fieldWords(settings)
	for i := range settings {
		root.put(settings[i].Field, settings[i].shape(words))
	}
	content := shapeOf(reflect.TypeFor[File](), "")
	content.child("policies").most = policy.MaxPolicies
	root.fields = append(root.fields, content.fields...)
	return root
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
	reflect.TypeFor[Method]():                       {string(policy.Delete), string(policy.Evict), string(policy.Ignore)},
	reflect.TypeFor[policy.Method]():                policy.Methods(),
	reflect.TypeFor[policy.Mode]():                  {string(policy.Enforce), string(policy.Audit)},
	reflect.TypeFor[policy.Reset]():                 {string(policy.Automatic), string(policy.Manual)},
	reflect.TypeFor[v1.TaintEffect]():               {string(v1.TaintEffectNoExecute), string(v1.TaintEffectNoSchedule)},
	reflect.TypeFor[metav1.LabelSelectorOperator](): {"In", "NotIn", "Exists", "DoesNotExist"},
}

// hintsOf are the next steps after other words.
var hintsOf = map[reflect.Type]map[string]string{
	reflect.TypeFor[v1.TaintEffect](): {
		string(v1.TaintEffectPreferNoSchedule): "schedulers may ignore PreferNoSchedule, so it evicts no pod: leave it out",
	},
}

// shapeOf returns the shape of the values that package json decodes into the type. name is that of the field.
func shapeOf(t reflect.Type, name string) shape {
	made := shape{about: described(name), kind: kinds[t], words: wordsOf[t], hints: hintsOf[t]}
	if made.kind != nil {
		return made
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem(), name)
	case reflect.Slice:
		items := shapeOf(t.Elem(), name+"[]")
		made.items = &items
	case reflect.Struct:
		made.fields = fieldsOf(t)
	case reflect.String:
		made.kind = text
	case reflect.Bool:
		made.kind = boolean
	case reflect.Int, reflect.Int32:
		made.kind = integer
	case reflect.Float32, reflect.Float64:
		made.kind = number
	}
	return made // without any of these, a map of labels
}

// fieldsOf returns the fields of a struct. Those that are written even if they are empty are required.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			shape := shapeOf(f.Type, t.Name()+"."+name)
			fields = append(fields, field{name, !strings.Contains(options, "omit"), shape})
		}
	}
	return fields
}
