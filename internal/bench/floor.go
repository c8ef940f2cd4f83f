package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// plainWorkers is how many calls taint-manager has under way at most.
const plainWorkers = 32

// call makes one pod go.
type call func(ctx context.Context, client kubernetes.Interface, pod identity) error

// plainly makes all pods go, with workers that decide nothing. Its client is that of taint-manager's user.
func (c *crowd) plainly(ctx context.Context, do call) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range plainWorkers {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(c.pods)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := do(ctx, c.w.worker, c.pods[i]); err != nil {
					cancel(fmt.Errorf("a plain worker: pod %s: %w", c.pods[i].name, err))
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// patchAndDelete are the calls of the method "delete".
func patchAndDelete(ctx context.Context, client kubernetes.Interface, pod identity) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"conditions":[{"type":"DisruptionTarget","status":"True",`+
		`"reason":"DeletionByTaintManager","message":"Taint manager: deleting due to NoExecute taint","lastTransitionTime":%q}]}}`,
		pod.uid, time.Now().UTC().Format(time.RFC3339))
	pods := client.CoreV1().Pods(namespace)
	_, err := pods.Patch(ctx, pod.name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	if err != nil {
		return err
	}
	return pods.Delete(ctx, pod.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.uid}})
}

// evictOnly is the call of the method "evict".
func evictOnly(ctx context.Context, client kubernetes.Interface, pod identity) error {
	return client.CoreV1().Pods(namespace).EvictV1(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: namespace, Name: pod.name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.uid}},
	})
}
