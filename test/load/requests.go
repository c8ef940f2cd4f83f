// Package load makes load for tests and benchmarks on a real control plane: many nodes and pods of a realistic size,
// taints, webhooks that delay deletions, and requests that evict pods without a controller. It measures the effects:
// the time of each pod's deletion, the memory and processor time of processes, and metrics.
package load

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

// maxInFlight is the number of requests that [Each] makes at a time.
const maxInFlight = 16

// Each makes n requests, 16 at a time. The error is the first one, and names what was being done.
func Each(ctx context.Context, what string, n int, do func(ctx context.Context, i int) error) error {
	if err := Spread(ctx, maxInFlight, n, do); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Spread calls do for each number below n, with at most atOnce calls at a time. It returns the first error, after which
// no further call starts.
func Spread(ctx context.Context, atOnce, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := do(ctx, i); err != nil {
				return fmt.Errorf("request %d of %d: %w", i, n, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// Patiently repeats a request up to four times, for 15 seconds, while the API server answers that it timed out.
func Patiently(request func() error) error {
	slow := wait.Backoff{Duration: time.Second, Factor: 2, Steps: 5}
	return retry.OnError(slow, apierrors.IsTimeout, request)
}

// Until polls until the condition holds, or fails.
func Until(
	ctx context.Context, what string, every, atMost time.Duration, holds func(context.Context) (bool, error),
) error {
	if err := wait.PollUntilContextTimeout(ctx, every, atMost, true, holds); err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}

// Pause waits, unless the context ends first.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Identity identifies a pod.
type Identity struct {
	Namespace, Name string
	UID             types.UID
}

// IdentityOf returns the identity of a pod.
func IdentityOf(pod *v1.Pod) Identity {
	return Identity{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

// PlainWorkers is the number of plain workers that evict in comparisons, equal to the default of --eviction-workers.
const PlainWorkers = 32

// PatchAndDelete sends the requests of the method "delete" for one pod.
func PatchAndDelete(ctx context.Context, client kubernetes.Interface, pod Identity) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"conditions":[{"type":"DisruptionTarget","status":"True",`+
		`"reason":"DeletionByTaintManager","message":"Taint manager: deleting due to NoExecute taint",`+
		`"lastTransitionTime":%q}]}}`, pod.UID, time.Now().UTC().Format(time.RFC3339))
	pods := client.CoreV1().Pods(pod.Namespace)
	_, err := pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	if err != nil {
		return err
	}
	return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
}

// Evict sends the request of the method "evict" for one pod.
func Evict(ctx context.Context, client kubernetes.Interface, pod Identity) error {
	return client.CoreV1().Pods(pod.Namespace).EvictV1(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
}
