package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// sample is how many pods a check asks the API server for.
const sample = 100

// field is a field of a pod that an informer's transform must let through.
type field struct {
	path string
	of   func(*v1.Pod) any
}

// podFields are those fields, but for the name and the namespace, which keys tell, and the resourceVersion: only
// where that is the same the others are compared.
func podFields() []field {
	return []field{
		{"metadata.uid", func(p *v1.Pod) any { return p.UID }},
		{"metadata.creationTimestamp", func(p *v1.Pod) any { return p.CreationTimestamp }},
		{"metadata.deletionTimestamp", func(p *v1.Pod) any { return p.DeletionTimestamp }},
		{"metadata.generation", func(p *v1.Pod) any { return p.Generation }},
		{"metadata.labels", func(p *v1.Pod) any { return p.Labels }},
		{"metadata.annotations[kubernetes.io/config.mirror]", func(p *v1.Pod) any { return ownerless(p, p.CreationTimestamp.Time).Mirror }},
		{"spec.nodeName", func(p *v1.Pod) any { return p.Spec.NodeName }},
		{"spec.tolerations", func(p *v1.Pod) any { return p.Spec.Tolerations }},
		{"spec.priority", func(p *v1.Pod) any { return p.Spec.Priority }},
		{"status.phase", func(p *v1.Pod) any { return p.Status.Phase }},
		{"status.conditions[PodScheduled]", func(p *v1.Pod) any { return since(holds(p, v1.PodScheduled)) }},
		{"status.conditions[DisruptionTarget]", func(p *v1.Pod) any { return holds(p, v1.DisruptionTarget) != nil }},
	}
}

func since(c *v1.PodCondition) metav1.Time {
	if c == nil {
		return metav1.Time{}
	}
	return c.LastTransitionTime
}

// check compares a few pods, read from the API server, with what the informer holds of them, and returns
// an error that names the first field that a transform has stripped or changed. Judging by such an
// informer would evict pods that tolerate their taints, or none at all, so it must not be used. It is to
// be called once the informer has synced. What has changed in between can't be compared and is passed
// over. While the API server can't be read it tries again, until the context ends.
func (a *adapter) check(ctx context.Context) error {
	backoff := wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 8, Cap: 30 * time.Second}
	for {
		pods, err := a.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{Limit: sample, FieldSelector: podsWatched})
		if err == nil {
			return compare(a.informer.GetStore(), pods.Items)
		}
		err = fmt.Errorf("reading pods to compare the pod informer with: %w", err)
		klog.FromContext(ctx).Error(err, "The informer can't be checked yet, and nobody is evicted; trying again")
		select {
		case <-time.After(backoff.Step()):
		case <-ctx.Done():
			return err
		}
	}
}

// compare compares what the store holds of the live pods with them.
func compare(store cache.Store, live []v1.Pod) error {
	if err := keys(store); err != nil {
		return err
	}
	for i := range live {
		key := cache.MetaObjectToName(&live[i]).String()
		held, there, err := store.GetByKey(key)
		if err != nil || !there {
			continue
		}
		pod, ok := held.(*v1.Pod)
		if !ok {
			return fmt.Errorf("the pod informer holds a %T where a *v1.Pod is needed", held)
		}
		if path := lost(pod, &live[i]); path != "" {
			return fmt.Errorf("the pod informer lacks %s: its transform must let this field through as it is (found by comparing %s with the API server)", path, key)
		}
	}
	return nil
}

// lost names the first field in which the held pod is not like the live one; empty when there is
// none, or when they are not of the same version.
func lost(held, live *v1.Pod) string {
	if held.ResourceVersion == "" && live.ResourceVersion != "" {
		return "metadata.resourceVersion"
	}
	if held.ResourceVersion != live.ResourceVersion {
		return ""
	}
	for _, f := range podFields() {
		if !equality.Semantic.DeepEqual(f.of(held), f.of(live)) {
			return f.path
		}
	}
	return ""
}

// keys finds out from the store's keys whether names are there.
func keys(store cache.Store) error {
	for _, key := range store.ListKeys() {
		namespace, name, named := strings.Cut(key, "/")
		switch {
		case key == "" || named && name == "":
			return errors.New("the pod informer lacks metadata.name: its transform must let this field through")
		case !named || namespace == "":
			return errors.New("the pod informer lacks metadata.namespace: its transform must let this field through")
		}
	}
	return nil
}
