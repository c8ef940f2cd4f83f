package config_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/policy"
)

var update = flag.Bool("update", false, "rewrite the golden and generated files")

// generated compares a file with its content, or writes it.
func generated(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not current, run make golden (-want +got):\n%s", path, diff)
	}
}

func words[S ~string](list ...S) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, word := range list {
		s.Enum = append(s.Enum, string(word))
	}
	return s
}

// mapped returns the schema of a type that JSON encodes in its own way, or that has few values; nil for other types.
func mapped(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[metav1.Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: `^[+-]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`}
	case reflect.TypeFor[metav1.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[intstr.IntOrString]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Type: "integer", Minimum: "0"}, {Type: "string", Pattern: policy.PercentagePattern},
		}}
	case reflect.TypeFor[policy.Method]():
		return words(policy.Methods()...)
	case reflect.TypeFor[policy.Mode]():
		return words(policy.Enforce, policy.Audit)
	case reflect.TypeFor[policy.Reset]():
		return words(policy.Automatic, policy.Manual)
	case reflect.TypeFor[v1.TaintEffect]():
		return words(v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule)
	case reflect.TypeFor[metav1.LabelSelectorOperator]():
		return words("In", "NotIn", "Exists", "DoesNotExist")
	}
	return nil
}

// selectors describes the fields of Kubernetes' own types.
var selectors = map[string]string{
	"MatchLabels": "All of these labels.", "MatchExpressions": "All of these expressions.", "Key": "Key of the label.",
	"Operator": "Relation of the label's value to values.", "Values": "Values, only with In and NotIn.",
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	r := &jsonschema.Reflector{DoNotReference: true, ExpandedStruct: true, Anonymous: true, Mapper: mapped}
	r.LookupComment = func(t reflect.Type, field string) string {
		if t.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" {
			return selectors[field]
		}
		text := r.CommentMap[t.PkgPath()+"."+t.Name()+"."+field]
		if field == "" {
			text = r.CommentMap[t.PkgPath()+"."+t.Name()]
		}
		return strings.ReplaceAll(text, "\n", " ")
	}
	for base, path := range map[string]string{"github.com/taint-manager/taint-manager/internal/config": ".", "github.com/taint-manager/taint-manager/policy": "../../policy"} {
		if err := r.AddGoComments(strings.TrimSuffix(base, "/policy"), path); err != nil {
			t.Fatal(err)
		}
	}
	for key, text := range r.CommentMap { // the folder of policies is relative
		r.CommentMap[regexp.MustCompile(`^.*/policy\.`).ReplaceAllString(key, "github.com/taint-manager/taint-manager/policy.")] = text
	}
	s := r.Reflect(&config.Configuration{})
	eviction, _ := s.Properties.Get("eviction")
	method, _ := eviction.Properties.Get("method")
	method.Enum = words(policy.Delete, policy.Evict, policy.Ignore).Enum        // policies may also hold
	s.Version, s.Title = "http://json-schema.org/draft-07/schema#", config.Kind // the draft that Helm reads
	return s
}

func TestTheSchemaIsThatOfTheStruct(t *testing.T) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(schema(t)); err != nil {
		t.Fatal(err)
	}
	generated(t, "schema.json", text.String())
	generated(t, "../../docs/schema/taintmanagerconfiguration.json", text.String())
}

// undescribed returns the paths without a description.
func undescribed(s *jsonschema.Schema, path string) (paths []string) {
	if s.Properties == nil {
		return nil
	}
	for name, property := range s.Properties.FromOldest() {
		at := path + "." + name
		if property.Description == "" {
			paths = append(paths, at)
		}
		paths = append(paths, undescribed(property, at)...)
		if property.Items != nil {
			paths = append(paths, undescribed(property.Items, at+"[]")...)
		}
	}
	return paths
}

func TestEachFieldIsDescribed(t *testing.T) {
	if paths := undescribed(schema(t), ""); len(paths) > 0 {
		t.Errorf("without a comment: %v", paths)
	}
}

// defaults returns the values of a struct as YAML, with the descriptions of its schema.
func defaults(v reflect.Value, s *jsonschema.Schema, indent int) *yaml.Node {
	object := &yaml.Node{Kind: yaml.MappingNode}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		property, _ := s.Properties.Get(name)
		key, value := &yaml.Node{Kind: yaml.ScalarNode, Value: name}, &yaml.Node{}
		if indent > 0 || i > 1 { // version and kind need no description
			key.HeadComment = wrapped(property.Description, 100-indent)
		}
		switch field := v.Field(i).Interface().(type) {
		case []policy.Policy, policy.Guards:
			continue
		case metav1.Duration:
			value.SetString(field.Duration.String())
		default:
			switch v.Field(i).Kind() {
			case reflect.Struct:
				value = defaults(v.Field(i), property, indent+2)
			case reflect.Slice:
				if v.Field(i).Len() == 0 {
					continue
				}
				_ = value.Encode(field)
				value.Style = yaml.FlowStyle
			default:
				_ = value.Encode(field)
			}
		}
		object.Content = append(object.Content, key, value)
	}
	return object
}

// wrapped breaks a text into lines of at most width bytes, except for longer words.
func wrapped(s string, width int) string {
	var lines []string
	for _, word := range strings.Fields(s) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return strings.Join(lines, "\n")
}

func TestTheFileOfDefaultsHasEachDefault(t *testing.T) {
	d := config.Default()
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(defaults(reflect.ValueOf(d), schema(t), 0)); err != nil {
		t.Fatal(err)
	}
	generated(t, "defaults.yaml", text.String())
	got := config.Configuration{}
	if errs := config.Decode("defaults.yaml", []byte(config.Defaults), &got); len(errs) > 0 && !*update {
		t.Errorf("refused: %v", errs)
	}
	if diff := cmp.Diff(d, got); diff != "" && !*update {
		t.Errorf("the printed defaults differ from Default (-want +got):\n%s", diff)
	}
}
