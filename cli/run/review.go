package run

import (
	"context"
	"fmt"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reviewer asks the API server whether this process has a permission.
type reviewer interface {
	Create(ctx context.Context, review *authorizationv1.SelfSubjectAccessReview, opts metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error)
}

// missing returns the permissions that this process lacks. It makes all requests in parallel, because the start waits
// for them.
func missing(ctx context.Context, reviews reviewer, permissions []permission) ([]permission, error) {
	answers := make([]*authorizationv1.SelfSubjectAccessReview, len(permissions))
	failures := make([]error, len(permissions))
	var asking sync.WaitGroup
	for i, p := range permissions {
		asking.Go(func() { answers[i], failures[i] = reviews.Create(ctx, review(p), metav1.CreateOptions{}) })
	}
	asking.Wait()
	var denied []permission
	for i, p := range permissions {
		if err := failures[i]; err != nil {
			return nil, fmt.Errorf("asking for permission to %s: %w", p, err)
		}
		if !answers[i].Status.Allowed {
			denied = append(denied, p)
		}
	}
	return denied, nil
}

func review(p permission) *authorizationv1.SelfSubjectAccessReview {
	return &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: p.namespace, Verb: p.verb, Group: p.group, Resource: p.resource, Subresource: p.subresource, Name: p.name,
		},
	}}
}
