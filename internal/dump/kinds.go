package dump

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/taint-manager/taint-manager/internal/spelling"
)

// wantedKind is a kind that is read, with kubectl's short name of it.
type wantedKind struct {
	apiVersion, kind, short string
	ours                    bool // only objects of the manager are looked for, by their names
	empty                   func() metav1.Object
}

// wanted are the kinds that are read.
var wanted = []wantedKind{
	{"v1", "Node", "no", false, func() metav1.Object { return &v1.Node{} }},
	{"v1", "Pod", "po", false, func() metav1.Object { return &v1.Pod{} }},
	{"v1", "Event", "ev", false, func() metav1.Object { return &v1.Event{} }},
	{"events.k8s.io/v1", "Event", "ev", false, func() metav1.Object { return &eventsv1.Event{} }},
	{"v1", "ConfigMap", "cm", true, func() metav1.Object { return &v1.ConfigMap{} }},
	{"v1", "Namespace", "ns", false, func() metav1.Object { return &v1.Namespace{} }},
	{"coordination.k8s.io/v1", "Lease", "lease", true, func() metav1.Object { return &coordinationv1.Lease{} }},
	{"policy/v1", "PodDisruptionBudget", "pdb", false, func() metav1.Object { return &policyv1.PodDisruptionBudget{} }},
	{betaBudget, "PodDisruptionBudget", "pdb", false, func() metav1.Object { return &policyv1.PodDisruptionBudget{} }},
	{"resource.k8s.io/v1", "ResourceClaim", "", false, func() metav1.Object { return &resourcev1.ResourceClaim{} }},
	{"resource.k8s.io/v1", "ResourceSlice", "", false, func() metav1.Object { return &resourcev1.ResourceSlice{} }},
	{"resource.k8s.io/v1", "DeviceTaintRule", "", false, func() metav1.Object { return &resourcev1.DeviceTaintRule{} }},
	{"resource.k8s.io/v1beta2", "DeviceTaintRule", "", false, func() metav1.Object { return &resourcev1.DeviceTaintRule{} }},
}

// betaBudget is the first version of PodDisruptionBudgets. An empty selector selects no pod there.
const betaBudget = "policy/v1beta1"

// wanted returns the kind of the object if it is one of those that are read; otherwise nil.
func (o *object) wanted() *wantedKind {
	for i := range wanted {
		if w := &wanted[i]; w.kind == o.Kind && w.apiVersion == o.APIVersion {
			return w
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
	if len(o.Members) > 0 {
		if err := json.Unmarshal(o.Members, typed, oneOfEach, json.WithUnmarshalers(by)); err != nil {
			return nil, err
		}
	}
	typed = asRead(typed, o.APIVersion)
	dropMaskedUIDs(typed)
	return typed, nil
}

// asRead returns an object of this API version as one of the version in which the kind is visited.
func asRead(object metav1.Object, apiVersion string) metav1.Object {
	switch o := object.(type) {
	case *eventsv1.Event:
		core := &v1.Event{
			ObjectMeta: o.ObjectMeta, InvolvedObject: o.Regarding, Type: o.Type, Reason: o.Reason, Message: o.Note,
			EventTime: o.EventTime, FirstTimestamp: o.DeprecatedFirstTimestamp, LastTimestamp: o.DeprecatedLastTimestamp,
			Count: o.DeprecatedCount, Source: o.DeprecatedSource, ReportingController: o.ReportingController,
			ReportingInstance: o.ReportingInstance, Action: o.Action, Related: o.Related,
		}
		if o.Series != nil {
			core.Series = &v1.EventSeries{Count: o.Series.Count, LastObservedTime: o.Series.LastObservedTime}
		}
		return asRead(core, "v1")
	case *v1.Event:
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
	return object
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

// foreign reports whether an apiVersion is that of another group than those of the kinds that are read, which have no
// dot. Kinds of such groups may have any name.
func (o *object) foreign() bool {
	group, _, _ := strings.Cut(o.APIVersion, "/")
	return strings.Contains(group, ".")
}

// other reports whether the object may be skipped in a folder, which has answers of the API server that are no objects.
func (o *object) other() bool {
	kind := strings.TrimSuffix(o.Kind, "List")
	return o.Kind == "" || o.isList() && !slices.ContainsFunc(wanted, func(w wantedKind) bool { return w.kind == kind })
}

// refused returns why an object that is not read must not be skipped either; "" if it may be skipped.
func (o *object) refused() string {
	switch forPeople := strings.HasPrefix(o.APIVersion, metav1.GroupName+"/"); {
	case forPeople && o.Kind == "Table":
		return "is a Table, which lacks most fields"
	case forPeople && strings.HasPrefix(o.Kind, "PartialObjectMetadata"):
		return "is a PartialObjectMetadata, which lacks most fields"
	case o.foreign():
		return ""
	case o.Kind == "Status":
		return strings.TrimRight("is the Status of a failed request: "+o.tell().Message, ": .")
	case o.isList():
		return "is a " + o.Kind + ` without "items"`
	}
	for i := range wanted {
		if w := &wanted[i]; w.resembles(o.Kind) {
			return fmt.Sprintf("has apiVersion %q and kind %q (did you mean apiVersion: %s, kind: %s?)", o.APIVersion, o.Kind,
				w.apiVersion, w.kind)
		}
	}
	return ""
}

// resembles reports whether the kind may be meant by a name that differs from it: by its short name, the plural, or a
// letter or two.
func (w *wantedKind) resembles(name string) bool {
	name = strings.ToLower(name)
	singular := strings.TrimRight(name, "s")
	return name == w.short || singular == w.short || spelling.Near(singular, w.kind)
}
