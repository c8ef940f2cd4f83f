package cluster

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
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
	r := requests[*v1.NamespaceList]{
		client: permitted{w.client.CoreV1().Namespaces()}, contact: &w.namespaceContact, trim: store.Transformer(),
	}
	w.reflect(ctx, "namespaces", &v1.Namespace{}, r.listWatch(), complete)
	cancel()
	waiting.Wait()
	w.namespaces.clear()
	w.namespaceContact.reset()
}

// permitted is the typed client for namespaces whose errors name the permission that is missing.
type permitted struct{ typedClient[*v1.NamespaceList] }

// List returns a list.
func (p permitted) List(ctx context.Context, o metav1.ListOptions) (*v1.NamespaceList, error) {
	list, err := p.typedClient.List(ctx, o)
	return list, permission(err)
}

// Watch returns a watch.
func (p permitted) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	stream, err := p.typedClient.Watch(ctx, o)
	return stream, permission(err)
}

// permission returns the error, which names the missing permission if it shows that one is missing.
func permission(err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	return fmt.Errorf("policies with a namespaceSelector need the permissions list and watch on namespaces, which docs/install.md says how to grant, and hold their pods without them: %w", err)
}
