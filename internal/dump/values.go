package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taint-manager/taint-manager/taint"
)

// masked finds what redactors write in place of a value.
var masked = regexp.MustCompile(`(?i)\*\*\*|redacted|x{5}`)

// Masked reports whether a value is a mask of a redactor, or has one.
func Masked(value string) bool {
	return strings.ContainsAny(value, "*rRxX") && masked.MatchString(value) // no UID has one of these
}

// dropMaskedUIDs removes the UIDs of an object that a redactor has masked: other objects may have the same mask.
func dropMaskedUIDs(object metav1.Object) {
	if Masked(string(object.GetUID())) {
		object.SetUID("")
	}
	if e, isEvent := object.(*v1.Event); isEvent && Masked(string(e.InvolvedObject.UID)) {
		e.InvolvedObject.UID = ""
	}
}

// closed decodes taints and tolerations, and of what is around them the members that are read: a misspelt member would
// change a verdict.
var closed = jsonv2.JoinUnmarshalers(strict[v1.Taint](), strict[v1.Toleration](),
	members(map[string]func(*metav1.ObjectMeta) any{
		"name":              func(to *metav1.ObjectMeta) any { return &to.Name },
		"namespace":         func(to *metav1.ObjectMeta) any { return &to.Namespace },
		"uid":               func(to *metav1.ObjectMeta) any { return &to.UID },
		"resourceVersion":   func(to *metav1.ObjectMeta) any { return &to.ResourceVersion },
		"generation":        func(to *metav1.ObjectMeta) any { return &to.Generation },
		"creationTimestamp": func(to *metav1.ObjectMeta) any { return &to.CreationTimestamp },
		"deletionTimestamp": func(to *metav1.ObjectMeta) any { return &to.DeletionTimestamp },
		"labels":            func(to *metav1.ObjectMeta) any { return &to.Labels },
		"annotations":       func(to *metav1.ObjectMeta) any { return &to.Annotations },
		"ownerReferences":   func(to *metav1.ObjectMeta) any { return &to.OwnerReferences },
		"finalizers":        func(to *metav1.ObjectMeta) any { return &to.Finalizers },
		"managedFields":     func(to *metav1.ObjectMeta) any { return &to.ManagedFields },
	}),
	members(map[string]func(*v1.Node) any{
		"metadata": func(to *v1.Node) any { return &to.ObjectMeta },
		"spec":     func(to *v1.Node) any { return &to.Spec },
		"status":   func(to *v1.Node) any { return &to.Status },
	}),
	members(map[string]func(*v1.PodStatus) any{
		"phase":      func(to *v1.PodStatus) any { return &to.Phase },
		"conditions": func(to *v1.PodStatus) any { return &to.Conditions },
	}),
	members(map[string]func(*policyv1.PodDisruptionBudgetSpec) any{
		"selector":       func(to *policyv1.PodDisruptionBudgetSpec) any { return &to.Selector },
		"maxUnavailable": func(to *policyv1.PodDisruptionBudgetSpec) any { return &to.MaxUnavailable },
		"unhealthyPodEvictionPolicy": func(to *policyv1.PodDisruptionBudgetSpec) any {
			return &to.UnhealthyPodEvictionPolicy
		},
	}),
	members(map[string]func(*v1.NodeSpec) any{
		"taints": func(to *v1.NodeSpec) any { return &to.Taints },
	}),
	members(map[string]func(*v1.PodSpec) any{
		"nodeName":           func(to *v1.PodSpec) any { return &to.NodeName },
		"tolerations":        func(to *v1.PodSpec) any { return &to.Tolerations },
		"priority":           func(to *v1.PodSpec) any { return &to.Priority },
		"evictionResponders": func(to *v1.PodSpec) any { return &to.EvictionResponders },
		"terminationGracePeriodSeconds": func(to *v1.PodSpec) any {
			return &to.TerminationGracePeriodSeconds
		},
	}))

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

// members decodes these members, and refuses others whose names differ in the case of letters or the last s only.
func members[T any](fields map[string]func(to *T) any) *jsonv2.Unmarshalers {
	return jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, to *T) error {
		if d.PeekKind() != '{' {
			return errors.ErrUnsupported // null, or refused
		}
		_, err := d.ReadToken()
		for err == nil && d.PeekKind() != '}' {
			err = member(d, to, fields)
		}
		if err == nil {
			_, err = d.ReadToken()
		}
		return err
	})
}

func member[T any](d *jsontext.Decoder, to *T, fields map[string]func(to *T) any) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	name := token.String()
	if of := fields[name]; of != nil {
		return jsonv2.UnmarshalDecode(d, of(to))
	}
	for right := range fields {
		if strings.EqualFold(strings.TrimSuffix(name, "s"), strings.TrimSuffix(right, "s")) {
			return fmt.Errorf("unknown field %q; write %s", name, right)
		}
	}
	return d.SkipValue()
}

// impossible returns the values that decide and that no API server stores. A mask may stand for any key or value.
func impossible(object metav1.Object) (errs field.ErrorList) {
	switch o := object.(type) {
	case *v1.Node:
		errs = taint.Validate(o.Spec.Taints, field.NewPath("spec", "taints"))
	case *v1.Pod:
		at := field.NewPath("spec", "tolerations")
		for i := range o.Spec.Tolerations {
			errs = append(errs, taint.ValidateToleration(&o.Spec.Tolerations[i], at.Index(i))...)
		}
	}
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		text, isText := e.BadValue.(string)
		return isText && Masked(text) // an effect is no string
	})
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

// texts are the members whose values are texts.
var texts = regexp.MustCompile(`(?i)^(.*labels|annotations|values|data)$`)

func nulls(value any, text bool) any {
	switch v := value.(type) {
	case string:
		if v == "null" && text {
			return ""
		}
		if v == "null" {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = nulls(v[i], text)
		}
	case map[string]any:
		for name := range v {
			v[name] = nulls(v[name], text || texts.MatchString(name))
		}
	}
	return value
}
