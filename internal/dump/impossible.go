package dump

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// masked finds what redactors write in place of a value.
var masked = regexp.MustCompile(`(?i)\*\*\*|redacted|x{5}`)

// Masked reports whether a value is a mask of a redactor, or has one.
func Masked(value string) bool { return masked.MatchString(value) }

// closed decodes taints and tolerations, and the specs around them: a misspelt member would change a verdict.
var closed = jsonv2.JoinUnmarshalers(strict[v1.Taint](), strict[v1.Toleration](),
	members(func(to *v1.NodeSpec, name string) any {
		if name == "taints" {
			return &to.Taints
		}
		return nil
	}, "taints"),
	members(func(to *v1.PodSpec, name string) any {
		switch name {
		case "nodeName":
			return &to.NodeName
		case "tolerations":
			return &to.Tolerations
		case "priority":
			return &to.Priority
		case "evictionResponders":
			return &to.EvictionResponders
		case "terminationGracePeriodSeconds":
			return &to.TerminationGracePeriodSeconds
		}
		return nil
	}, "nodeName", "tolerations"))

// strict decodes values of a type without members that the type does not have.
func strict[T any]() *jsonv2.Unmarshalers {
	return jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, to *T) error {
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		return jsonv2.Unmarshal(value, to, jsonv2.RejectUnknownMembers(true))
	})
}

// members decodes only the members that have a field, and refuses those whose name differs from one of these in the case
// of letters or in the last s.
func members[T any](field func(to *T, name string) any, names ...string) *jsonv2.Unmarshalers {
	return jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, to *T) error {
		if d.PeekKind() != '{' {
			return d.SkipValue()
		}
		_, err := d.ReadToken()
		for err == nil && d.PeekKind() != '}' {
			err = member(d, func(name string) any { return field(to, name) }, names)
		}
		if err == nil {
			_, err = d.ReadToken()
		}
		return err
	})
}

func member(d *jsontext.Decoder, field func(name string) any, names []string) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	name := token.String()
	if to := field(name); to != nil {
		return jsonv2.UnmarshalDecode(d, to)
	}
	for _, right := range names {
		if strings.EqualFold(strings.TrimSuffix(name, "s"), strings.TrimSuffix(right, "s")) {
			return fmt.Errorf("unknown field %q; write %s", name, right)
		}
	}
	return d.SkipValue()
}

// impossible returns the values that decide and that no API server stores. A mask may stand for any value.
func impossible(object metav1.Object) (errs field.ErrorList) {
	switch o := object.(type) {
	case *v1.Node:
		for i := range o.Spec.Taints {
			errs = append(errs, impossibleTaint(&o.Spec.Taints[i], field.NewPath("spec", "taints").Index(i))...)
		}
	case *v1.Pod:
		for i := range o.Spec.Tolerations {
			at := field.NewPath("spec", "tolerations").Index(i)
			errs = append(errs, impossibleToleration(&o.Spec.Tolerations[i], at)...)
		}
	}
	return errs
}

var effects = []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute}

func impossibleTaint(t *v1.Taint, at *field.Path) (errs field.ErrorList) {
	errs = append(syntax(at.Child("key"), t.Key, validation.IsQualifiedName),
		syntax(at.Child("value"), t.Value, validation.IsValidLabelValue)...)
	return append(errs, effect(at.Child("effect"), t.Effect)...)
}

func impossibleToleration(t *v1.Toleration, at *field.Path) (errs field.ErrorList) {
	value := at.Child("value")
	switch t.Operator {
	case "", v1.TolerationOpEqual:
		errs = syntax(value, t.Value, validation.IsValidLabelValue)
	case v1.TolerationOpExists:
		if t.Value != "" {
			errs = append(errs, field.Invalid(value, t.Value, "must be empty when operator is Exists"))
		}
	case v1.TolerationOpLt, v1.TolerationOpGt:
	default:
		operators := []v1.TolerationOperator{v1.TolerationOpEqual, v1.TolerationOpExists, v1.TolerationOpLt, v1.TolerationOpGt}
		errs = append(errs, field.NotSupported(at.Child("operator"), t.Operator, operators))
	}
	if t.Key != "" {
		errs = append(errs, syntax(at.Child("key"), t.Key, validation.IsQualifiedName)...)
	} else if t.Operator != v1.TolerationOpExists {
		errs = append(errs, field.Invalid(at.Child("operator"), t.Operator, "must be Exists when key is empty"))
	}
	if t.Effect != "" {
		errs = append(errs, effect(at.Child("effect"), t.Effect)...)
	}
	if t.TolerationSeconds != nil && t.Effect != v1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(at.Child("effect"), t.Effect, "must be NoExecute when tolerationSeconds is set"))
	}
	return errs
}

func effect(at *field.Path, e v1.TaintEffect) field.ErrorList {
	for _, known := range effects {
		if e == known {
			return nil
		}
	}
	return field.ErrorList{field.NotSupported(at, e, effects)}
}

func syntax(at *field.Path, value string, check func(string) []string) (errs field.ErrorList) {
	if Masked(value) {
		return nil
	}
	for _, problem := range check(value) {
		errs = append(errs, field.Invalid(at, value, problem))
	}
	return errs
}

// withNulls returns an object of a tool that writes "null" for null and for "": a label or a value in a selector is "",
// anything else is null.
func withNulls(object []byte) []byte {
	var document map[string]any
	if !bytes.Contains(object, []byte(`"null"`)) || json.Unmarshal(object, &document) != nil {
		return object
	}
	text, err := json.Marshal(nulls(document, false))
	if err != nil {
		return object
	}
	return text
}

func nulls(value any, texts bool) any {
	switch v := value.(type) {
	case string:
		if v == "null" && texts {
			return ""
		}
		if v == "null" {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = nulls(v[i], texts)
		}
	case map[string]any:
		for name := range v {
			v[name] = nulls(v[name], strings.HasSuffix(strings.ToLower(name), "labels") || name == "annotations" ||
				name == "values" || name == "data" || texts)
		}
	}
	return value
}
