package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
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

// shape returns the shape of the setting in the file.
func (s *Setting) shape() shape {
	made := shape{setting: s, kind: text}
	switch value := s.Value.(type) {
	case *bool:
		made.kind = boolean
	case *int:
		made.kind = integer
	case *float32, *float64:
		made.kind = number
	case *time.Duration:
		made.kind = duration
	case *Method:
		for _, m := range methods() {
			made.words = append(made.words, m.written())
		}
	case listValue:
		items := shape{kind: text}
		if strings.HasPrefix(value.(FlagValue).Type(), "int") {
			items.kind = integer
		}
		made.kind, made.items = list, &items
	case FlagValue:
		made.kind = map[string]kind{"bool": boolean, "int": integer, "Level": integer, "duration": duration}[value.Type()]
		if made.kind == object {
			made.kind = text
		}
	}
	return made
}

// written returns the method in the spelling of the file and of Kubernetes.
func (m Method) written() string {
	if m == "" {
		return ""
	}
	return strings.ToUpper(string(m[:1])) + string(m[1:])
}

// CopyFrom sets the setting to the value of the same setting of another Configuration.
func (s *Setting) CopyFrom(other Setting) error {
	switch from := other.Value.(type) {
	case *bool:
		*s.Value.(*bool) = *from
	case *int:
		*s.Value.(*int) = *from
	case *float32:
		*s.Value.(*float32) = *from
	case *float64:
		*s.Value.(*float64) = *from
	case *string:
		*s.Value.(*string) = *from
	case *Method:
		*s.Value.(*Method) = *from
	case *time.Duration:
		*s.Value.(*time.Duration) = *from
	case listValue:
		return s.Value.(listValue).Replace(from.GetSlice())
	case FlagValue:
		return s.Value.(FlagValue).Set(from.String())
	}
	return nil
}

// write sets the setting to a value of the right shape.
func (s *Setting) write(n *yaml.Node) (err error) {
	switch value := s.Value.(type) {
	case *bool:
		*value, err = strconv.ParseBool(n.Value)
	case *int:
		*value, err = strconv.Atoi(n.Value)
	case *float32:
		var wide float64
		wide, err = strconv.ParseFloat(n.Value, 32)
		*value = float32(wide)
	case *float64:
		*value, err = strconv.ParseFloat(n.Value, 64)
	case *string:
		*value = n.Value
	case *Method:
		*value = ParseMethod(n.Value)
	case *time.Duration:
		*value, err = time.ParseDuration(n.Value)
	case listValue:
		items := make([]string, len(n.Content))
		for i, item := range n.Content {
			items[i] = item.Value
		}
		err = value.Replace(items)
	case FlagValue:
		err = value.Set(n.Value)
	default:
		err = fmt.Errorf("a setting of type %T can't be set", s.Value)
	}
	return err
}
