package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/internal/hint"
	"github.com/taint-manager/taint-manager/internal/transport"
	"github.com/taint-manager/taint-manager/policy"
)

// howToGrant is the next step if permissions are missing.
const howToGrant = "To grant them, run 'kubectl apply -f deploy/rbac.yaml', or 'helm upgrade' with this configuration."

// checkAccess makes the first requests to the API server. It returns an error if the server cannot be reached, or
// forbids a read without which nothing works. Other permissions may be missing: operators stop evictions by removing
// permissions, and due evictions wait for them.
func (s *settings) checkAccess(ctx context.Context, client kubernetes.Interface, server string) error {
	var forbidden error
	err := transport.Contact(ctx, func(ctx context.Context) (err error) {
		forbidden, err = s.tryReads(ctx, client)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("reaching the API server: %w", ctx.Err())
	case err != nil:
		return transport.Unreachable(server, s.origin(), err)
	}
	return forbidden
}

// tryReads makes the first reads. It returns what the API server forbids, in the server's words, and any other error.
func (s *settings) tryReads(ctx context.Context, client kubernetes.Interface) (forbidden, err error) {
	var refusals []string
	for _, read := range s.firstReads(client) {
		err := read(ctx)
		switch {
		case apierrors.IsForbidden(err):
			refusals = append(refusals, "\n  "+err.Error())
		case err != nil:
			return nil, err
		}
	}
	if len(refusals) == 0 {
		return nil, nil
	}
	return hint.Add(fmt.Errorf("permissions are missing:%s", strings.Join(refusals, "")), howToGrant), nil
}

// firstReads returns the reads without which nothing works, each as small as possible.
func (s *settings) firstReads(client kubernetes.Interface) []func(context.Context) error {
	one := metav1.ListOptions{Limit: 1}
	reads := []func(context.Context) error{
		func(ctx context.Context) error { _, err := client.CoreV1().Nodes().List(ctx, one); return err },
		func(ctx context.Context) error { _, err := client.CoreV1().Pods("").List(ctx, one); return err },
	}
	if s.selectsNamespaces() {
		reads = append(reads, func(ctx context.Context) error {
			_, err := client.CoreV1().Namespaces().List(ctx, one)
			return err
		})
	}
	if e := s.LeaderElection; e.LeaderElect {
		reads = append(reads, func(ctx context.Context) error {
			leases := client.CoordinationV1().Leases(e.ResourceNamespace)
			_, err := leases.Get(ctx, e.ResourceName, metav1.GetOptions{})
			if apierrors.IsNotFound(err) { // the first leader creates it
				return nil
			}
			return err
		})
	}
	return reads
}

// selectsNamespaces reports whether a policy selects namespaces by their labels.
func (s *settings) selectsNamespaces() bool {
	return slices.ContainsFunc(s.Policies, func(p policy.Policy) bool { return p.Match.NamespaceSelector != nil })
}

// origin returns where the server's address comes from.
func (s *settings) origin() string {
	if s.ClientConnection.Kubeconfig == "" {
		return "the pod's service account"
	}
	return "--kubeconfig=" + s.ClientConnection.Kubeconfig
}
