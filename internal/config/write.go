package config

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FlagValue is the value of a setting that parses its text itself, like values of flags.
type FlagValue interface {
	Set(text string) error
	String() string
	Type() string
}

// listValue is a FlagValue of a list.
type listValue interface {
	Replace(items []string) error
	GetSlice() []string
}

// flagKinds are the kinds of the FlagValues that are not texts.
var flagKinds = map[string]*kind{"bool": boolean, "int": integer, "Level": integer, "duration": duration}

// shape returns the shape of the setting in the file, with its description in these words.
func (s *Setting) shape(words *strings.Replacer) (made shape) {
	switch value := s.Value.(type) {
	case listValue:
		made = shapeOf(reflect.TypeFor[[]string](), "")
		if strings.HasPrefix(value.(FlagValue).Type(), "int") {
			made = shapeOf(reflect.TypeFor[[]int](), "")
		}
	case FlagValue:
		made = cmp.Or(flagKinds[value.Type()], text).shape("")
	default:
		made = shapeOf(reflect.TypeOf(s.Value), "")
	}
	made.setting = s
	made.Description = words.Replace(s.helpInFile(made.Enum))
	if s.most > s.least {
		made.Minimum, made.Maximum = &s.least, &s.most
	}
	return made
}

// helpInFile returns the help with the words of the file.
func (s *Setting) helpInFile(words []string) string {
	help := s.Help()
	if len(words) > 0 {
		help = s.Usage + " Takes " + orWords(words) + "."
	}
	if s.Live {
		help += " A change takes effect without a restart."
	}
	return help
}

// written returns the method in the spelling of the file and of Kubernetes.
func (m Method) written() string {
	if m == "" {
		return ""
	}
	return strings.ToUpper(string(m[:1])) + string(m[1:])
}

// field returns the field of a Configuration that the setting points to.
func (s Setting) field() reflect.Value { return reflect.ValueOf(s.Value).Elem() }

// Text returns the value in the flag's notation.
func (s Setting) Text() string {
	if value, ok := s.Value.(FlagValue); ok {
		return value.String()
	}
	return fmt.Sprint(s.field().Interface())
}

// CopyFrom sets the setting to the value of the same setting of another Configuration.
func (s *Setting) CopyFrom(other Setting) error {
	switch from := other.Value.(type) {
	case listValue:
		return s.Value.(listValue).Replace(from.GetSlice())
	case FlagValue:
		return s.Value.(FlagValue).Set(from.String())
	}
	s.field().Set(other.field())
	return nil
}

// write sets the setting to a value of the right shape.
func (s *Setting) write(n *yaml.Node, value any) error {
	switch to := s.Value.(type) {
	case listValue:
		items := make([]string, len(n.Content))
		for i, item := range n.Content {
			items[i] = item.Value
		}
		return to.Replace(items)
	case FlagValue:
		return to.Set(n.Value)
	case *Method:
		value = ParseMethod(n.Value)
	}
	if d, ok := value.(metav1.Duration); ok {
		value = d.Duration
	}
	s.field().Set(reflect.ValueOf(value).Convert(s.field().Type()))
	return nil
}
