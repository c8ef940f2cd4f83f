package load

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// DeletionTimes records when one watch first showed that a pod is terminating or gone. Its methods are safe for
// concurrent use.
type DeletionTimes struct {
	mu   sync.Mutex
	at   map[types.UID]time.Time
	next chan struct{} // closed at the next deletion
}

// NewDeletionTimes returns an empty record.
func NewDeletionTimes() *DeletionTimes {
	return &DeletionTimes{at: map[types.UID]time.Time{}, next: make(chan struct{})}
}

// Follow watches all pods until the context ends. It returns when the existing pods have been listed. It uses an
// informer, because the API server closes a plain watch now and then.
func (d *DeletionTimes) Follow(ctx context.Context, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(onlyIdentity))
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { d.noteTerminating(obj) },
		UpdateFunc: func(_, obj any) { d.noteTerminating(obj) },
		DeleteFunc: func(obj any) {
			if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			if pod, ok := obj.(*v1.Pod); ok {
				d.note(pod.UID)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return ctx.Err()
}

// onlyIdentity returns the pod with only the fields that the package uses.
func onlyIdentity(obj any) (any, error) {
	pod, ok := obj.(*v1.Pod)
	if !ok {
		return obj, nil
	}
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		DeletionTimestamp: pod.DeletionTimestamp,
	}}, nil
}

func (d *DeletionTimes) noteTerminating(obj any) {
	if pod, ok := obj.(*v1.Pod); ok && pod.DeletionTimestamp != nil {
		d.note(pod.UID)
	}
}

func (d *DeletionTimes) note(uid types.UID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.at[uid]; !known {
		d.at[uid] = time.Now()
		close(d.next)
		d.next = make(chan struct{})
	}
}

// Of waits until the pod is deleted, or the time until has come. It returns the time of the deletion, and whether there
// was a deletion.
func (d *DeletionTimes) Of(ctx context.Context, uid types.UID, until time.Time) (time.Time, bool) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	times, _ := d.Wait(ctx, []Identity{{UID: uid}}, 0)
	if len(times) == 0 {
		return time.Time{}, false
	}
	return times[0], true
}

// Wait waits until at most left of these pods are not deleted, and returns the times of the deletions. If the
// context ends first, Wait fails and returns the times up to then.
func (d *DeletionTimes) Wait(ctx context.Context, pods []Identity, left int) ([]time.Time, error) {
	for {
		times, next := d.times(pods)
		if len(pods)-len(times) <= left {
			return times, nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return times, fmt.Errorf("%d of %d pods are left: %w", len(pods)-len(times), len(pods), context.Cause(ctx))
		}
		if len(pods) > 1 { // counting at every deletion would take long
			_ = Pause(ctx, 20*time.Millisecond)
		}
	}
}

// times returns the times of the pods that are deleted, and a channel that is closed at the next deletion.
func (d *DeletionTimes) times(pods []Identity) ([]time.Time, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	times := make([]time.Time, 0, len(pods))
	for _, pod := range pods {
		if at, deleted := d.at[pod.UID]; deleted {
			times = append(times, at)
		}
	}
	return times, d.next
}
