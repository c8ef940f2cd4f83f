package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/config"
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

// grants lists the missing permissions, one line for each, and the next step.
func grants(denied []permission, server string) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s does not permit this user what is needed; missing are:\n", server)
	table := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	for _, p := range denied {
		_, _ = fmt.Fprintf(table, "  %s\t%s\n", p, p.why)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("listing missing permissions: %w", err)
	}
	s.WriteString("Grant them with 'kubectl apply -f deploy/rbac.yaml' and run as its ServiceAccount kube-system/taint-manager.")
	if slices.ContainsFunc(denied, ownLease) {
		s.WriteString("\nThat file grants the lease kube-system/taint-manager only: name yours in its Role, too.")
	}
	if slices.ContainsFunc(denied, ownRule) {
		s.WriteString("\nThat file has the rules of the default configuration: 'helm upgrade' with yours renders the others.")
	}
	return errors.New(s.String())
}

// ownRule reports whether the default configuration does not need a permission that is not for the lease.
func ownRule(p permission) bool {
	return p.resource != "leases" && !slices.Contains(needed(config.Default(), nil), p)
}

// ownLease reports whether a permission is for a lease with another name than the one in deploy/rbac.yaml.
func ownLease(p permission) bool {
	return p.resource == "leases" && !slices.Contains(toLead(config.Default()), p)
}
