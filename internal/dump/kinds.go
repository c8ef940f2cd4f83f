package dump

import (
	"bytes"
	"errors"
	"fmt"
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

// wantedBegins finds one of these kinds, or a Status in place of a list, in the beginning of a file.
var wantedBegins = regexp.MustCompile(`kind"?: *"?(Status|Node|Pod|Event|ConfigMap|Namespace|Lease|` +
	`PodDisruptionBudget|ResourceClaim|ResourceSlice|DeviceTaintRule)(List)?\b`)

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

// read decodes strictly what decides, and skips long values that no answer needs; readSparingly also skips
// managedFields, which are needed of nodes only: they say when the taints were written.
var (
	read = json.JoinUnmarshalers(
		strictly[v1.Taint](), strictly[v1.Toleration](), strictly[resourcev1.DeviceTaint](),
		strictly[resourcev1.DeviceToleration](), strictly[resourcev1.DeviceTaintSelector](),
		skipped[[]v1.Container](), skipped[[]v1.EphemeralContainer](), skipped[[]v1.Volume](), skipped[v1.Affinity](),
		skipped[v1.ResourceList](), skipped[[]v1.VolumeMountStatus](), skipped[[]v1.ContainerImage](),
	)
	readSparingly = json.JoinUnmarshalers(read, skipped[[]metav1.ManagedFieldsEntry]())
)

// strictly refuses members that the type does not have: a misspelt one would change a verdict.
func strictly[T any]() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, to *T) error {
		return json.UnmarshalDecode(d, to, json.RejectUnknownMembers(true), json.WithUnmarshalers(nil))
	})
}

func skipped[T any]() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ *T) error { return d.SkipValue() })
}

// decode decodes the members of an object of this kind, in the version in which the kind is visited.
func (o *object) decode(w *wantedKind) (metav1.Object, error) {
	typed, by := w.empty(), readSparingly
	if w.kind == "Node" {
		by = read
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
		text, _ := e.BadValue.(string) // an effect is none
		return Masked(text)
	})
}

// told is what messages say of an object or a list.
type told struct {
	Message      string
	Type, Object jsontext.Value // of a watch event
	Metadata     struct {
		Namespace, Name, Continue string
	}
}

// tell returns what can be read of it.
func (o *object) tell() (t told) {
	_ = json.Unmarshal(o.members, &t, lenient, json.MatchCaseInsensitiveNames(true)) // what can't be read is empty
	return t
}

const watchEvent = "is a watch event (run kubectl without --output-watch-events)"

// refused returns why an object that is not read must not be skipped either; "" if it may be skipped.
func (o *object) refused() string {
	switch {
	case o.kind == "":
		if told := o.tell(); told.Type.Kind() == '"' && told.Object.Kind() == '{' {
			return watchEvent
		}
		return "has no kind"
	case strings.HasPrefix(o.apiVersion, "meta.k8s.io/"): // a Table or PartialObjectMetadata
		return "is a " + strings.TrimSuffix(o.kind, "List") + ", which lacks most fields"
	case o.foreign():
		return ""
	case o.kind == "Status":
		return strings.TrimRight("is the Status of a failed request: "+o.tell().Message, ": .")
	case o.isList():
		return "is a " + o.kind + ` without "items"`
	}
	for _, w := range wanted {
		if spelling.Near(strings.TrimRight(o.kind, "s"), w.kind) {
			const what = "has apiVersion %q and kind %q (did you mean apiVersion: %s, kind: %s?)"
			return fmt.Sprintf(what, o.apiVersion, o.kind, w.apiVersion, w.kind)
		}
	}
	return ""
}

// unreadable returns why an object can't be read whose kind is. A dialect is named by the tool that writes it.
func (o *object) unreadable(err error) error {
	if bytes.Contains(o.members, []byte("$(time-offset-nanosecond ")) {
		return errors.New("it is a snapshot of kwokctl, whose times are offsets to the moment of its export, which it " +
			"does not have; use kubectl instead")
	}
	m := o.tell().Metadata
	return fmt.Errorf("invalid %s %s %s: %s", o.kind, key(m.Namespace, m.Name), o.at, err.Error()) // the text is fine
}

// key returns a namespace and a name, as people write them.
func key(namespace, name string) string { return strings.TrimPrefix(namespace+"/"+name, "/") }
