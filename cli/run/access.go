package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/internal/transport"
)

// checkAccess makes the first requests to the API server. It returns an error if the server cannot be reached, or
// denies a permission to watch or to lead. Permissions to evict may be missing: operators stop evictions that way, and
// evictions that are due wait for them. The permission to create the lease may be missing, as in the roles of version
// 0.1.
func (s *settings) checkAccess(ctx context.Context, reviews reviewer, server string) error {
	var denied []permission
	err := transport.Contact(ctx, func(ctx context.Context) (err error) {
		denied, err = missing(ctx, reviews, needed(s.Configuration, s.policies))
		return err
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("reaching the API server: %w", ctx.Err())
	case apierrors.IsForbidden(err):
		klog.FromContext(ctx).Error(err, "Could not ask for permissions, going on without: what is missing will show in refused calls")
		return nil
	case err != nil:
		return transport.Unreachable(server, s.origin(), err)
	case slices.ContainsFunc(denied, s.vital):
		return s.grants(denied, server)
	}
	s.warnOfDenied(ctx, denied)
	s.warnOfOptional(ctx, reviews)
	return nil
}

// optionalPatience is how long the start waits for reviews of permissions that are not required.
const optionalPatience = 5 * time.Second

// warnOfOptional logs missing permissions that do not prevent running.
func (s *settings) warnOfOptional(ctx context.Context, reviews reviewer) {
	ctx, cancel := context.WithTimeout(ctx, optionalPatience)
	defer cancel()
	var both sync.WaitGroup
	both.Go(func() { s.warnOfServing(ctx, reviews) })
	both.Go(func() { s.warnOfJournal(ctx, reviews) })
	both.Wait()
}

// vital reports whether nothing works without the permission. The lease exists unless this is the first start.
func (s *settings) vital(p permission) bool {
	creates := p.verb == "create" && p.resource == "leases"
	return !creates && !slices.Contains(toEvict(s.Configuration, s.policies), p)
}

// warnOfDenied logs missing permissions that evictions, or the first leader, wait for.
func (s *settings) warnOfDenied(ctx context.Context, denied []permission) {
	commands := strings.Join(s.granting(denied), "\n") + "\n"
	for _, p := range denied {
		klog.FromContext(ctx).Error(nil, "A permission is missing, going on without: what needs it is refused until it is granted. "+howToGrant,
			"permission", p.String(), "why", p.why, "commands", commands)
	}
}

// warnOfServing logs missing permissions that only clients of the metrics need. It cannot review another user's
// permissions.
func (s *settings) warnOfServing(ctx context.Context, reviews reviewer) {
	own := s.authentication.RemoteKubeConfigFile == s.Kubeconfig && s.authorization.RemoteKubeConfigFile == s.Kubeconfig
	if s.serving.BindPort == 0 || !own {
		return
	}
	denied, err := missing(ctx, reviews, toServe())
	if err != nil {
		klog.FromContext(ctx).Error(err, "Could not ask for the permissions to serve metrics")
	}
	for _, p := range denied {
		klog.FromContext(ctx).Info("Requests for metrics will be refused: a permission is missing; grant it by binding the role as deploy/rbac.yaml does",
			"permission", p.String(), "why", p.why, "role", p.role)
	}
}

// origin returns where the server's address comes from.
func (s *settings) origin() string {
	if s.Kubeconfig == "" {
		return "the pod's service account"
	}
	return "--kubeconfig=" + s.Kubeconfig
}

// reviewer asks the API server whether this process has a permission.
type reviewer interface {
	Create(ctx context.Context, review *authorizationv1.SelfSubjectAccessReview,
		opts metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error)
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
			Namespace: p.namespace, Verb: p.verb, Group: p.group, Resource: p.resource, Subresource: p.subresource,
			Name: p.name,
		},
	}}
}
