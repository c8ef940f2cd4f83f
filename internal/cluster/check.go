package cluster

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/policy"
)

// sample is the number of pods that a check reads from the API server.
const sample = 100

// field is a field of a pod that an informer's transform must keep.
type field struct {
	path  string
	value any
}

// podFields returns those fields of a pod, except the name and the namespace, which are part of the key, and the
// resourceVersion: the other fields are compared only if it is equal.
func podFields(p *v1.Pod, needs *policy.Needs) []field {
	small, scheduled := PodOf(p, time.Time{}), metav1.Time{}
	if c := TrueCondition(p, v1.PodScheduled); c != nil {
		scheduled = c.LastTransitionTime
	}
	fields := []field{
		{"metadata.uid", p.UID},
		{"metadata.creationTimestamp", p.CreationTimestamp},
		{"metadata.deletionTimestamp", p.DeletionTimestamp},
		{"metadata.generation", p.Generation},
		{"metadata.labels", p.Labels},
		{"metadata.annotations[kubernetes.io/config.mirror]", small.Mirror},
		{"spec.nodeName", p.Spec.NodeName},
		{"spec.tolerations", p.Spec.Tolerations},
		{"spec.priority", p.Spec.Priority},
		{"status.phase", p.Status.Phase},
		{"status.conditions[PodScheduled]", scheduled},
		{"status.conditions[DisruptionTarget]", small.Disrupted},
	}
	if needs.PodOwners {
		fields = append(fields, field{"metadata.ownerReferences", small.Controller})
	}
	if needs.GracePeriods {
		fields = append(fields, field{"spec.terminationGracePeriodSeconds", small.GracePeriodSeconds})
	}
	return fields
}

// check compares a few pods, read from the API server, with those in the informer, and returns an error that names the
// first field that a transform has stripped or changed. It must be called once the informer has synced. While the API
// server cannot be read it tries again, until the context ends.
func (a *adapter) check(ctx context.Context) error {
	backoff := wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 8, Cap: 30 * time.Second}
	return backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (done bool, err error) {
		pods, err := a.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
			Limit: sample, FieldSelector: podsWatched + ",status.phase!=Succeeded,status.phase!=Failed",
		})
		if err != nil {
			klog.FromContext(ctx).Error(err, "The pods of the informer can't be compared with the API server's yet, and no pod is evicted; trying again")
			return false, nil
		}
		return true, a.compare(pods.Items)
	})
}

// compare compares the live pods with those in the informer.
func (a *adapter) compare(live []v1.Pod) error {
	needs, store := a.relists.followed.Load(), a.informer.GetStore()
	for _, obj := range store.List() {
		pod, ok := obj.(*v1.Pod)
		switch {
		case !ok:
			return fmt.Errorf("the pod informer holds a %T where a *v1.Pod is needed", obj)
		case pod.Name == "":
			return lacks("metadata.name", pod)
		case pod.Namespace == "":
			return lacks("metadata.namespace", pod)
		}
	}
	for i := range live {
		pod := &live[i]
		cached, _, _ := store.GetByKey(cache.MetaObjectToName(pod).String()) // an informer's store never fails
		held, exists := cached.(*v1.Pod)
		if !exists {
			continue
		}
		if path := missingField(held, pod, &needs.Needs); path != "" {
			return lacks(path, pod)
		}
	}
	return nil
}

// lacks returns the error about a field that the informer has not kept.
func lacks(path string, p *v1.Pod) error {
	return fmt.Errorf("the pod informer lacks %s: its transform must let this field through as it is (found by comparing %s with the API server)",
		path, cache.MetaObjectToName(p))
}

// missingField returns the first field in which a pod of the informer differs from the live pod; "" if there is none,
// or if their versions differ.
func missingField(cached, live *v1.Pod, needs *policy.Needs) string {
	if cached.ResourceVersion == "" && live.ResourceVersion != "" {
		return "metadata.resourceVersion"
	}
	if cached.ResourceVersion != live.ResourceVersion {
		return ""
	}
	fields, want := podFields(cached, needs), podFields(live, needs)
	for i := range fields {
		if !equality.Semantic.DeepEqual(fields[i].value, want[i].value) {
			return fields[i].path
		}
	}
	return ""
}
