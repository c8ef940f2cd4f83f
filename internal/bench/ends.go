package main

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

// ends knows when each pod was seen to be deleted, by one watch, the same for all subjects. It is safe for
// concurrent use.
type ends struct {
	mu   sync.Mutex
	at   map[types.UID]time.Time
	news chan struct{} // closed at the next end
}

func newEnds() *ends {
	return &ends{at: map[types.UID]time.Time{}, news: make(chan struct{})}
}

// follow watches all pods until the context ends.
func (e *ends) follow(ctx context.Context, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(onlyIdentity))
	pods := factory.Core().V1().Pods().Informer()
	_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			if pod, ok := obj.(*v1.Pod); ok && pod.DeletionTimestamp != nil {
				e.note(pod.UID)
			}
		},
		DeleteFunc: func(obj any) {
			if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			if pod, ok := obj.(*v1.Pod); ok {
				e.note(pod.UID)
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

// onlyIdentity keeps of a pod what is needed here.
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

func (e *ends) note(uid types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.at[uid]; !known {
		e.at[uid] = time.Now()
		close(e.news)
		e.news = make(chan struct{})
	}
}

// of waits until all of these pods are gone, and returns when each went. It fails when that takes
// longer than so long.
func (e *ends) of(ctx context.Context, pods []identity, atMost time.Duration) ([]time.Time, error) {
	timeout := time.After(atMost)
	times := make([]time.Time, 0, len(pods))
	for {
		e.mu.Lock()
		news := e.news
		times = times[:0]
		for _, pod := range pods {
			if at, ended := e.at[pod.uid]; ended {
				times = append(times, at)
			}
		}
		e.mu.Unlock()
		if len(times) == len(pods) {
			return times, nil
		}
		select {
		case <-news:
			if len(pods) > 1 { // so as not to count at every pod
				err := pause(ctx, 20*time.Millisecond)
				if err != nil {
					return nil, err
				}
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timeout:
			return nil, fmt.Errorf("after %v %d of %d pods are left", atMost, len(pods)-len(times), len(pods))
		}
	}
}
