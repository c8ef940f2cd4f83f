package foresight

import (
	"encoding/json"
	"strings"
	"time"
	"unique"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/taint"
)

// Owner is the controller of a pod, which would replace the pod.
type Owner struct {
	Kind  string `json:"kind"`
	Group string `json:"group,omitempty"` // API group; empty for the core group
	Name  string `json:"name"`

	// UID distinguishes owners of the same kind and name; empty for a Deployment, because pods do not refer to it.
	UID string `json:"uid,omitempty"`
}

// String returns the owner as kubectl writes it, but with the kind unchanged: "Deployment/web"; "" if there is none. It
// names the group only if it is not one of Kubernetes' own: "Job.batch.volcano.sh/train".
func (o *Owner) String() string {
	switch {
	case o == nil:
		return ""
	case strings.Contains(o.Group, "."):
		return o.Kind + "." + o.Group + "/" + o.Name
	}
	return o.Kind + "/" + o.Name
}

// pod has the fields of a pod that the model keeps. Until Load, Bound is the time in the API.
type pod struct {
	taint.Pod
	owner   *Owner    // nil if the pod has no controller
	created time.Time // zero if that is not known

	usesClaims bool // it has resource claims, perhaps for devices
	hidden     bool // a mask hides whether it is in the focus
	rejected   bool // by its kubelet, because it does not tolerate a NoExecute taint of its node

	// Only few pods have these.
	ends       *time.Time // when the grace period of a pod that is being deleted ends
	finalizers []string   // of a pod that is being deleted or has finished
	containers containers // of a pod that is being deleted
	disruption *Disruption
	responds   []string // names of spec.evictionResponders
}

// responders returns a warning if the pod has eviction responders, which respond only to an EvictionRequest.
func (p *pod) responders() []string {
	if len(p.responds) == 0 {
		return nil
	}
	names := ShortList(p.responds)
	return []string{"the pod has evictionResponders (" + names + "), which neither Delete nor Evict asks: only " +
		"an EvictionRequest does"}
}

// rejectedReason is the reason in the status of a pod that its kubelet has rejected. A kubelet that starts rejects
// running pods, too (pkg/kubelet/lifecycle/predicate.go of Kubernetes 1.36.3).
const rejectedReason = "TaintToleration"

const rejectedNote = "the kubelet, not taint-manager, ended the pod: a kubelet rejects pods that do not tolerate a NoExecute " +
	"taint of its node, and does so again for running pods when it starts"

func podOf(p *v1.Pod) *pod {
	result := &pod{
		Pod: cluster.PodOf(p, cluster.Bound(p)), disruption: disruption(p), created: p.CreationTimestamp.Time,
		rejected:   p.Status.Reason == rejectedReason,
		usesClaims: len(p.Spec.ResourceClaims) > 0 || p.Status.ExtendedResourceClaimStatus != nil,
	}
	if result.Controller != nil {
		result.owner = ownerOf(p, result.Controller)
	}
	for i := range p.Spec.EvictionResponders {
		result.responds = append(result.responds, p.Spec.EvictionResponders[i].Name)
	}
	if p.DeletionTimestamp != nil || result.finished() {
		result.finalizers = p.Finalizers
	}
	if p.DeletionTimestamp != nil {
		result.ends = utc(p.DeletionTimestamp.Time)
		result.containers = containersOf(p.Status.ContainerStatuses)
	}
	return result
}

// containers says whether the containers of a pod run, as far as its kubelet has reported.
type containers int

const (
	unreported containers = iota
	running               // at least one
	stopped               // all
)

func containersOf(statuses []v1.ContainerStatus) (are containers) {
	for i := range statuses {
		if statuses[i].State.Terminated == nil {
			return running
		}
		are = stopped
	}
	return are
}

// ownerOf returns the workload of a pod with this controller.
func ownerOf(p *v1.Pod, controller *taint.Owner) *Owner {
	workload := taint.Workload(*controller, p.Labels)
	owner := &Owner{Kind: workload.Kind, Group: workload.Group, Name: workload.Name}
	if workload == *controller {
		owner.UID = string(metav1.GetControllerOfNoCopy(p).UID)
	}
	return owner
}

// disruption returns the pod's condition DisruptionTarget, or nil.
func disruption(p *v1.Pod) *Disruption {
	c := cluster.TrueCondition(p, v1.DisruptionTarget)
	if c == nil {
		return nil
	}
	d := &Disruption{Reason: c.Reason, Message: c.Message}
	if !c.LastTransitionTime.IsZero() {
		d.Since = utc(c.LastTransitionTime.Time)
	}
	return d
}

// key identifies a pod: its UID or, if it has none, its name. No UID has a slash.
func (p *pod) key() types.UID {
	if p.UID != "" {
		return p.UID
	}
	return types.UID(p.Key())
}

// ownerKey identifies an owner.
type ownerKey struct {
	namespace string
	owner     Owner
}

// ownerKey returns the key of the pod's owner; the zero value if there is none.
func (p *PodRef) ownerKey() ownerKey {
	if p.Owner == nil {
		return ownerKey{}
	}
	return ownerKey{p.Namespace, *p.Owner}
}

// replicas counts the pods of an owner, and those of them that are ready.
type replicas struct{ all, ready int }

// unplaced reports whether the pod must have a node, but none is known.
func (p *pod) unplaced() bool {
	return p.Node == "" && !p.Terminating && !p.finished() && p.Phase != v1.PodPending
}

// replica reports whether a pod counts as a replica of its owner: it has not finished and is not being deleted.
func (p *pod) replica() bool { return !p.finished() && !p.Terminating }

// finished reports whether the pod has ended by itself.
func (p *pod) finished() bool { return p.Phase == v1.PodSucceeded || p.Phase == v1.PodFailed }

// countIn counts the pod for its owner. It returns nil if the pod does not count.
func (p *pod) countIn(counts map[ownerKey]*replicas) *replicas {
	if p.owner == nil || !p.replica() {
		return nil
	}
	key := ownerKey{p.Namespace, *p.owner}
	n := counts[key]
	if n == nil {
		n = new(replicas)
		counts[key] = n
	}
	n.all++
	countIf(&n.ready, p.Ready)
	return n
}

// sharing maps the JSON of a value to the first such value, because replicas have equal labels, tolerations and owners.
type sharing map[string]any

// share returns the first value that equals this one.
func share[V any](s sharing, value V) V {
	key, _ := json.Marshal(value) // strings and numbers can always be encoded
	if first, ok := s[string(key)].(V); ok {
		return first
	}
	s[string(key)] = value
	return value
}

// sharedText returns a string equal to t that shares its memory with all equal strings.
func sharedText[T ~string](t T) T { return unique.Make(t).Value() }

// share replaces values of the pod by equal values that other pods share.
func (p *pod) share(s sharing) {
	p.Namespace, p.Node, p.Phase = sharedText(p.Namespace), sharedText(p.Node), sharedText(p.Phase)
	p.Labels, p.Tolerations = share(s, p.Labels), share(s, p.Tolerations)
	p.Controller, p.owner = share(s, p.Controller), share(s, p.owner)
}
