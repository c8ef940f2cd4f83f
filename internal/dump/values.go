package dump

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taint-manager/taint-manager/internal/spelling"
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

// readMembers are the members that are read of an object, its metadata, its spec and its status, whatever its kind.
var readMembers = []string{
	"metadata", "spec", "status",
	"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "labels",
	"annotations", "ownerReferences", "finalizers", "managedFields",
	"taints", "conditions",
	"nodeName", "tolerations", "priority", "evictionResponders", "terminationGracePeriodSeconds", "phase",
	"containerStatuses", "state", "resourceClaims", "extendedResourceClaimStatus",
	"selector", "maxUnavailable", "unhealthyPodEvictionPolicy", "observedGeneration", "disruptionsAllowed",
	"currentHealthy", "desiredHealthy", "expectedPods",
	"holderIdentity", "leaseDurationSeconds", "acquireTime", "renewTime", "leaseTransitions",
}

// mayBeRead reports whether a member is read, or refused because its name may stand for one that is.
func mayBeRead(name string) bool {
	return slices.ContainsFunc(readMembers, func(right string) bool { return meant(name, right) })
}

// meant reports whether a name may stand for the right one, of which it has the first letter.
func meant(name, right string) bool {
	return name != "" && name[0]|' ' == right[0] && spelling.Near(name, right)
}

// closed decodes the types that decide, and those around them: of a taint and of a toleration all members, of others
// those that are read. A misspelt member would change a verdict.
var closed = json.JoinUnmarshalers(
	members[v1.Taint](true), members[v1.Toleration](true), members[resourcev1.DeviceTaint](true),
	members[resourcev1.DeviceToleration](true), members[resourcev1.DeviceTaintSelector](true),
	members[metav1.ObjectMeta](false),
	members[v1.Node](false), members[v1.NodeSpec](false), members[v1.NodeStatus](false), members[v1.Pod](false),
	members[v1.PodSpec](false), members[v1.PodStatus](false), members[v1.ContainerStatus](false),
	members[v1.ContainerStateRunning](false), members[v1.ContainerStateTerminated](false),
	members[policyv1.PodDisruptionBudgetSpec](false),
)

// notRead is the index of a field that is not read.
const notRead = -1

// members decodes the members of a type that are read: all, or those whose names are. Of other names it refuses all, or
// those that the type does not have and that may stand for members that are read, of this type or another.
func members[T any](all bool) *json.Unmarshalers {
	fields := map[string]int{} // once, not for each object
	for i := range reflect.TypeFor[T]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[T]().Field(i).Tag.Get("json"), ",")
		if fields[name] = notRead; all || slices.Contains(readMembers, name) {
			fields[name] = i
		}
	}
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, to *T) error {
		if d.PeekKind() != '{' {
			return errors.ErrUnsupported // null, or refused
		}
		_, err := d.ReadToken()
		for err == nil && d.PeekKind() != '}' {
			err = member(d, reflect.ValueOf(to).Elem(), fields, all)
		}
		if err == nil {
			_, err = d.ReadToken()
		}
		return err
	})
}

func member(d *jsontext.Decoder, to reflect.Value, fields map[string]int, all bool) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	name := token.String()
	field, known := fields[name]
	switch {
	case known && field != notRead:
		return json.UnmarshalDecode(d, to.Field(field).Addr().Interface())
	case all:
		return fmt.Errorf("unknown field %q in %s", name, to.Type().Name())
	case known || !mayBeRead(name):
		return d.SkipValue()
	}
	for _, right := range readMembers {
		if field, ok := fields[right]; ok && field != notRead && meant(name, right) {
			return fmt.Errorf("unknown field %q (did you mean %s?)", name, right)
		}
	}
	return fmt.Errorf("unknown field %q in %s", name, to.Type().Name())
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

// nullText finds the text "null" that is a value or, with its colon, a name.
var nullText = regexp.MustCompile(`[:\[,]\s*"null"(\s*:)?`)

// withNulls returns an object of a tool that writes "null" for null and for "": as a string, null is decoded as "".
func withNulls(object []byte) []byte {
	return nullText.ReplaceAllFunc(object, func(found []byte) []byte {
		if bytes.HasSuffix(found, []byte(":")) {
			return found
		}
		return bytes.Replace(found, []byte(`"null"`), []byte("null"), 1)
	})
}
