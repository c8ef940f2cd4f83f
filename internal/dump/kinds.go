package dump

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/taint-manager/taint-manager/internal/spelling"
	"github.com/taint-manager/taint-manager/taint"
)

// wantedKind is a kind that is read.
type wantedKind struct {
	apiVersion, kind string
	ours             bool // only objects of the manager are looked for, by their names
	empty            func() metav1.Object
}

var wanted = []wantedKind{
	{"v1", "Node", false, func() metav1.Object { return &v1.Node{} }},
	{"v1", "Pod", false, func() metav1.Object { return &v1.Pod{} }},
	{"v1", "Event", false, func() metav1.Object { return &v1.Event{} }},
	{"events.k8s.io/v1", "Event", false, func() metav1.Object { return &v1.Event{} }},
	{"v1", "ConfigMap", true, func() metav1.Object { return &v1.ConfigMap{} }},
	{"v1", "Namespace", false, func() metav1.Object { return &v1.Namespace{} }},
	{"coordination.k8s.io/v1", "Lease", true, func() metav1.Object { return &coordinationv1.Lease{} }},
	{"policy/v1", "PodDisruptionBudget", false, func() metav1.Object { return &policyv1.PodDisruptionBudget{} }},
	{betaBudget, "PodDisruptionBudget", false, func() metav1.Object { return &policyv1.PodDisruptionBudget{} }},
	{"resource.k8s.io/v1", "ResourceClaim", false, func() metav1.Object { return &resourcev1.ResourceClaim{} }},
	{"resource.k8s.io/v1", "ResourceSlice", false, func() metav1.Object { return &resourcev1.ResourceSlice{} }},
	{"resource.k8s.io/v1", "DeviceTaintRule", false, func() metav1.Object { return &resourcev1.DeviceTaintRule{} }},
	{betaRule, "DeviceTaintRule", false, func() metav1.Object { return &resourcev1.DeviceTaintRule{} }},
}

const (
	betaBudget = "policy/v1beta1" // in which an empty selector selects no pod
	betaRule   = "resource.k8s.io/v1beta2"
)

// wanted returns the kind of the object if it is one of those that are read; otherwise nil.
func (o *object) wanted() *wantedKind {
	for i := range wanted {
		if wanted[i].kind == o.kind && wanted[i].apiVersion == o.apiVersion {
			return &wanted[i]
		}
	}
	return nil
}

// sparing skips managedFields, which are long. Those of nodes are needed: they say when the taints were written.
var sparing = json.JoinUnmarshalers(closed, json.UnmarshalFromFunc(
	func(d *jsontext.Decoder, _ *[]metav1.ManagedFieldsEntry) error { return d.SkipValue() }))

// decode decodes the members of an object of this kind, in the version in which the kind is visited.
func (o *object) decode(w *wantedKind) (metav1.Object, error) {
	typed, by := w.empty(), sparing
	if w.kind == "Node" {
		by = closed
	}
	if err := json.Unmarshal(o.members, typed, oneOfEach, json.WithUnmarshalers(by)); err != nil {
		return nil, o.unreadable(err)
	}
	adapt(typed, o.apiVersion)
	return typed, nil
}

// coreNames are the names in v1 of members of an event of events.k8s.io/v1.
var coreNames = map[string]string{
	"regarding": "involvedObject", "note": "message", "reportingController": "reportingComponent",
	"deprecatedCount": "count", "deprecatedSource": "source",
	"deprecatedFirstTimestamp": "firstTimestamp", "deprecatedLastTimestamp": "lastTimestamp",
}

// adapt makes an object of any API version one of the version in which its kind is visited, without UIDs that a
// redactor has masked: other objects may have the same mask.
func adapt(object metav1.Object, apiVersion string) {
	if Masked(string(object.GetUID())) {
		object.SetUID("")
	}
	switch o := object.(type) {
	case *v1.Event:
		if Masked(string(o.InvolvedObject.UID)) {
			o.InvolvedObject.UID = ""
		}
		if o.LastTimestamp.IsZero() && o.Series != nil {
			o.LastTimestamp = metav1.NewTime(o.Series.LastObservedTime.Time)
		}
	case *policyv1.PodDisruptionBudget:
		if apiVersion != betaBudget {
			break
		}
		o.APIVersion = apiVersion // there may be a copy in policy/v1
		if s := o.Spec.Selector; s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
			o.Spec.Selector = nil
		}
	}
}

// times returns the timestamps in an object: the cluster's state is at least as new as each of them. A
// deletionTimestamp is not among them, as it is the end of a grace period.
func times(object metav1.Object) []time.Time {
	list := []time.Time{object.GetCreationTimestamp().Time}
	switch o := object.(type) {
	case *v1.Node:
		for _, c := range o.Status.Conditions {
			list = append(list, c.LastTransitionTime.Time, c.LastHeartbeatTime.Time)
		}
		for _, t := range o.Spec.Taints {
			list = append(list, ptr.Deref(t.TimeAdded, metav1.Time{}).Time)
		}
	case *v1.Pod:
		for _, c := range o.Status.Conditions {
			list = append(list, c.LastTransitionTime.Time)
		}
	case *v1.Event:
		list = append(list, o.FirstTimestamp.Time, o.LastTimestamp.Time, o.EventTime.Time)
	}
	return list
}

// readMembers are the members that are read of an object, its metadata, its spec and its status, whatever its kind.
var readMembers = strings.Fields(`metadata spec status
	name namespace uid resourceVersion generation creationTimestamp deletionTimestamp labels annotations ownerReferences
	finalizers managedFields taints conditions nodeName tolerations priority evictionResponders
	terminationGracePeriodSeconds phase containerStatuses state resourceClaims extendedResourceClaimStatus
	selector maxUnavailable unhealthyPodEvictionPolicy observedGeneration disruptionsAllowed currentHealthy
	desiredHealthy expectedPods holderIdentity leaseDurationSeconds acquireTime renewTime leaseTransitions
	reservedFor allocation driver pool devices deviceSelector`)

// mayBeRead reports whether a member is read, or refused because its name, which has the same first letter, may stand
// for one that is.
func mayBeRead(name string) bool {
	return slices.Contains(readMembers, name) || slices.ContainsFunc(readMembers, func(right string) bool {
		return name != "" && name[0]|' ' == right[0] && spelling.Near(name, right)
	})
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

// members decodes the members of a type that are read: all, or those whose names are. Of other names it refuses all, or
// those that the type does not have and that may stand for members that are read, of this type or another.
func members[T any](all bool) *json.Unmarshalers {
	fields := map[string]int{} // -1 for those that are not read
	for i := range reflect.TypeFor[T]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[T]().Field(i).Tag.Get("json"), ",")
		if fields[name] = -1; all || slices.Contains(readMembers, name) {
			fields[name] = i
		}
	}
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, to *T) error {
		if d.PeekKind() != '{' {
			return errors.ErrUnsupported // null, or refused
		}
		return contents(d, func(name string) error {
			field, known := fields[name]
			switch {
			case known && field >= 0:
				return json.UnmarshalDecode(d, reflect.ValueOf(to).Elem().Field(field).Addr().Interface())
			case known || !all && !mayBeRead(name):
				return d.SkipValue()
			}
			return fmt.Errorf("unknown field %q in %s", name, reflect.TypeFor[T]().Name())
		})
	})
}

// masked finds what redactors write in place of a value.
var masked = regexp.MustCompile(`(?i)\*\*\*|redacted|x{5}`)

// Masked reports whether a value is a mask of a redactor, or has one.
func Masked(value string) bool {
	return strings.ContainsAny(value, "*rRxX") && masked.MatchString(value) // no UID has one of these
}

// nullText finds the text "null" that is a value: a name has a colon behind it.
var nullText = regexp.MustCompile(`([:\[,]\s*)"null"([\s,\]}])`)

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
