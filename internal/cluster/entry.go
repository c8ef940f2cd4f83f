package cluster

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"
	"unique"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/taint-manager/taint-manager/taint"
)

// entry is a pod in the cache. Its size does not grow with what the pod's owner writes into the pod, except for
// tolerations that may match a taint that evicts. An entry in the cache is immutable, because readers keep its Pod.
type entry struct {
	// Pod has no tolerations, and only the labels that are needed. Its strings and maps may be shared. A finished pod
	// that a finalizer keeps is Terminating.
	taint.Pod

	tolerations tolerations
}

// GetObjectKind returns no kind. It lets an entry be in a list of client-go.
func (e *entry) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the entry itself.
func (e *entry) DeepCopyObject() runtime.Object { return e }

// against returns the pod with the tolerations that count for the taints.
func (e *entry) against(taints []v1.Taint) *taint.Pod {
	list := e.tolerations.deciding(taints)
	if len(list) == 0 {
		return &e.Pod
	}
	pod := e.Pod
	pod.Tolerations = list
	return &pod
}

// entryOf returns the entry of a pod that counts as bound from the given moment on. The entry shares no memory that
// grows with the pod.
func (po *pods) entryOf(p *v1.Pod, bound time.Time) *entry {
	needs := po.needs.Load()
	e := &entry{Pod: PodOf(p, bound), tolerations: encode(p.Spec.Tolerations, &needs.Needs)}
	e.Tolerations, e.Labels = nil, selectLabels(p.Labels, needs.PodLabels)
	e.Terminating = e.Terminating || e.finished() && slices.ContainsFunc(p.Finalizers, Keeps)
	e.Phase = unique.Make(e.Phase).Value() // one text for all pods
	if c := e.Controller; c != nil {
		c.Kind, c.Group, c.Name = cut(c.Kind, validation.DNS1035LabelMaxLength),
			cut(c.Group, validation.DNS1123SubdomainMaxLength), cut(c.Name, validation.DNS1123SubdomainMaxLength)
	}
	po.share(&e.Pod)
	return e
}

// workload is what the pods of one workload share.
type workload struct {
	namespace  string
	labels     map[string]string
	controller *taint.Owner
}

// minWorkloads is the minimum number of workloads to keep, because a list is trimmed before the cache has its pods.
const minWorkloads = 4096

// share lets a pod share the strings and the map of another pod of its workload. Workloads of deleted pods remain, so
// all workloads are forgotten before there are more than two for each pod; later pods share with each other.
func (po *pods) share(p *taint.Pod) {
	hash := hashWorkload(po.seed, p)
	w := po.workloads[hash]
	if w == nil || w.namespace != p.Namespace || !maps.Equal(w.labels, p.Labels) ||
		!ptr.Equal(w.controller, p.Controller) {
		if len(po.workloads) >= max(minWorkloads, 2*len(po.byUID)) {
			clear(po.workloads)
		}
		w = &workload{p.Namespace, p.Labels, p.Controller}
		po.workloads[hash] = w
	}
	p.Namespace, p.Labels, p.Controller = w.namespace, w.labels, w.controller
}

// selectLabels returns the labels with these keys, and the label pod-template-hash, by which a Deployment is found. It
// returns nil if there are none.
func selectLabels(labels map[string]string, keys []string) (selected map[string]string) {
	for _, key := range append([]string{taint.PodTemplateHash}, keys...) {
		value, exists := labels[key]
		switch {
		case !exists:
			continue
		case selected == nil:
			selected = map[string]string{}
		}
		selected[key] = value
	}
	return selected
}

// hashWorkload hashes what the pods of one workload share. The order of labels does not count.
func hashWorkload(seed maphash.Seed, p *taint.Pod) uint64 {
	sum := maphash.String(seed, p.Namespace)
	for key, value := range p.Labels {
		sum += maphash.Comparable(seed, [2]string{key, value})
	}
	if p.Controller != nil {
		sum += maphash.Comparable(seed, *p.Controller)
	}
	return sum
}

// cut returns the text, or its first bytes if it is too long. The API server limits the lengths of an object's names,
// but not in references to the object as an owner.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.Clone(text[:most])
}

// same reports whether two entries show readers a pod in the same state. It does not compare Bound and Seen.
func (e *entry) same(o *entry) bool {
	a, b := &e.Pod, &o.Pod
	return a.Phase == b.Phase && a.Priority == b.Priority && a.Generation == b.Generation &&
		a.Disrupted == b.Disrupted &&
		ptr.Equal(a.GracePeriodSeconds, b.GracePeriodSeconds) && a.Ready == b.Ready && e.sameVerdict(o, true)
}

// sameVerdict reports whether a pod has the same verdict in both states, and the same policies apply to it. The owner
// counts only if owners is true.
func (e *entry) sameVerdict(o *entry, owners bool) bool {
	a, b := &e.Pod, &o.Pod
	return a.UID == b.UID && e.sameExposure(o) && a.Terminating == b.Terminating && a.Mirror == b.Mirror &&
		maps.Equal(a.Labels, b.Labels) && (!owners || ptr.Equal(a.Controller, b.Controller))
}

// sameExposure reports whether a pod is exposed to the same taints in both states, and tolerates the same.
func (e *entry) sameExposure(o *entry) bool {
	return e.Node == o.Node && e.tolerations == o.tolerations
}

// gone reports whether a pod is no longer on a node, or not yet.
func (e *entry) gone() bool { return e.Node == "" || e.finished() && !e.Terminating }

// finished reports whether a pod has ended by itself.
func (e *entry) finished() bool { return e.Phase == v1.PodSucceeded || e.Phase == v1.PodFailed }
