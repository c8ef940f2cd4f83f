package cluster

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// watchNamespaces watches namespaces while they are needed, until the context ends.
func (w *Watcher) watchNamespaces(ctx context.Context, handler Handler, warnings *warnings) {
	var telling sync.WaitGroup
	telling.Go(func() { w.namespaces.tell(ctx, handler) })
	defer telling.Wait()
	for ctx.Err() == nil {
		if w.needs.Load().NamespaceLabels {
			w.reflectNamespaces(ctx, warnings)
			continue
		}
		select {
		case <-ctx.Done():
		case <-w.namespaces.toggled:
		}
	}
}

// reflectNamespaces watches namespaces until they are not needed any longer, or the context ends.
func (w *Watcher) reflectNamespaces(ctx context.Context, warnings *warnings) {
	ctx, cancel := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		defer cancel()
		for w.needs.Load().NamespaceLabels {
			select {
			case <-ctx.Done():
				return
			case <-w.namespaces.toggled:
			}
		}
	})
	store := &namespaceStore{namespaces: w.namespaces, warnings: warnings}
	complete := completing{store, func() {
		w.namespaceContact.listed(ctx)
		w.settle()
	}}
	w.reflect(ctx, "namespaces", &v1.Namespace{}, w.namespaceRequests(store.Transformer()), complete)
	cancel()
	waiting.Wait()
	w.namespaces.clear()
	w.namespaceContact.reset()
}

// namespaceRequests returns the requests of the reflector of namespaces. An error that they are forbidden names the
// permission that is missing.
func (w *Watcher) namespaceRequests(trim cache.TransformFunc) *cache.ListWatch {
	c := &w.namespaceContact
	l := newLister(w.client, w.client.CoreV1().Namespaces(), "namespaces", trim, c.granted)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return ask(ctx, c, o, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				list, err := l.List(ctx, o)
				return list, permission(err)
			})
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.Watch = true
			return ask(ctx, c, o, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				stream, err := l.Watch(ctx, o)
				return stream, permission(err)
			})
		},
	}
}

// permission returns the error, which names the missing permission if it shows that one is missing.
func permission(err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	return fmt.Errorf("policies with a namespaceSelector need the permissions list and watch on namespaces, which docs/install.md says how to grant, and hold their pods without them: %w", err)
}
