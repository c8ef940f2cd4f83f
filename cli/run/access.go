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
	var denied []rule
	err := transport.Contact(ctx, func(ctx context.Context) (err error) {
		denied, err = missing(ctx, reviews, s.needed())
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
	case slices.ContainsFunc(denied, func(r rule) bool { return r.required }):
		return s.grants(denied, server)
	}
	bounded, cancel := context.WithTimeout(ctx, optionalTimeout)
	defer cancel()
	optional, err := missing(bounded, reviews, s.optional())
	if err != nil {
		klog.FromContext(ctx).Error(err, "Could not ask for the permissions to keep the journal and to serve metrics")
	}
	if denied = append(denied, optional...); len(denied) > 0 {
		klog.FromContext(ctx).Error(s.grants(denied, server), "Permissions are missing, going on without: what needs them is refused until they are granted")
	}
	return nil
}

// optionalTimeout is how long the start waits for reviews of permissions that are not required.
const optionalTimeout = 5 * time.Second

// optional returns the rules that only the journal and clients of the metrics need. This process cannot review the
// permissions of another user, as which it may authenticate and authorize such clients.
func (s *settings) optional() []rule {
	rules := toKeep(s.Configuration)
	own := s.authentication.RemoteKubeConfigFile == s.Kubeconfig && s.authorization.RemoteKubeConfigFile == s.Kubeconfig
	if own && s.serving.BindPort != 0 {
		return append(rules, toServe()...)
	}
	return rules
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

// missing returns the rules of which the API server denies verbs, with the denied verbs only, and an error if a review
// fails. It makes all reviews in parallel, because the start waits for them.
func missing(ctx context.Context, reviews reviewer, rules []rule) (denied []rule, err error) {
	answers := make([][]string, len(rules)) // the denied verbs, and "" for the others
	var asking sync.WaitGroup
	var mu sync.Mutex // guards err
	for i, r := range rules {
		answers[i] = make([]string, len(r.verbs))
		for k, verb := range r.verbs {
			asking.Go(func() {
				answer, failure := reviews.Create(ctx, r.review(verb), metav1.CreateOptions{})
				if failure != nil {
					mu.Lock()
					err = fmt.Errorf("asking for permission to %s: %w", r, failure)
					mu.Unlock()
				} else if !answer.Status.Allowed {
					answers[i][k] = verb
				}
			})
		}
	}
	asking.Wait()
	for i, r := range rules {
		r.verbs = slices.DeleteFunc(answers[i], func(verb string) bool { return verb == "" })
		if len(r.verbs) > 0 {
			denied = append(denied, r)
		}
	}
	return denied, err
}

// review asks for one verb. The first name stands for all.
func (r rule) review(verb string) *authorizationv1.SelfSubjectAccessReview {
	resource, subresource, _ := strings.Cut(r.resource, "/")
	asked := authorizationv1.ResourceAttributes{
		Namespace: r.namespace, Verb: verb, Group: r.group, Resource: resource, Subresource: subresource,
	}
	if len(r.names) > 0 {
		asked.Name = r.names[0]
	}
	return &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &asked},
	}
}
