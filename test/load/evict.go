package load

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Identity identifies a pod.
type Identity struct {
	Namespace, Name string
	UID             types.UID
}

// IdentityOf returns the identity of a pod.
func IdentityOf(pod *v1.Pod) Identity {
	return Identity{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

// PlainWorkers is the number of plain workers that evict in comparisons, which equals taint-manager's slots.
const PlainWorkers = 32

// PatchAndDelete sends the requests of the method "delete" for one pod.
func PatchAndDelete(ctx context.Context, client kubernetes.Interface, pod Identity) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"conditions":[{"type":"DisruptionTarget","status":"True",`+
		`"reason":"DeletionByTaintManager","message":"Taint manager: deleting due to NoExecute taint","lastTransitionTime":%q}]}}`,
		pod.UID, time.Now().UTC().Format(time.RFC3339))
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
