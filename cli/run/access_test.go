package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/internal/hint"
	"github.com/taint-manager/taint-manager/policy"
)

// failing returns an API server that answers a verb on a resource with this error.
func failing(verb, resource string, err error) *fake.Clientset {
	client := fake.NewClientset()
	client.PrependReactor(verb, resource, func(k8stesting.Action) (bool, runtime.Object, error) { return true, nil, err })
	return client
}

// forbidding returns an API server that forbids verbs on resources, such as "list nodes".
func forbidding(permissions ...string) *fake.Clientset {
	client := fake.NewClientset()
	for _, p := range permissions {
		verb, resource, _ := strings.Cut(p, " ")
		refusal := apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("cannot "+p))
		client.PrependReactor(verb, resource, func(k8stesting.Action) (bool, runtime.Object, error) { return true, nil, refusal })
	}
	return client
}

func TestBeingToldToEndWhileWaitingForTheServerIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		err := newSettings().checkAccess(ctx, failing("*", "*", errors.New("connection refused")), "https://a:1")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAServerThatStaysAwayIsNamedAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err := newSettings().checkAccess(t.Context(), failing("*", "*", errors.New("connection refused")), "https://a:1")
		if err == nil || !strings.Contains(err.Error(), "https://a:1 did not respond within 10s") || time.Since(start) != 10*time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestItStartsUnlessTheServerForbidsAReadWithoutWhichNothingWorks(t *testing.T) {
	selects := func(s *settings) {
		s.Policies = []policy.Policy{{Match: policy.Match{NamespaceSelector: &metav1.LabelSelector{}}}}
	}
	dry := func(s *settings) { s.DryRun = true; must(t, s.complete()) }
	for name, test := range map[string]struct {
		forbidden []string
		set       func(*settings)
		want      []string // lines of the error
	}{
		"nothing":                       {nil, selects, nil},
		"nodes":                         {[]string{"list nodes"}, nil, []string{"list nodes"}},
		"pods":                          {[]string{"list pods"}, nil, []string{"list pods"}},
		"the lease":                     {[]string{"get leases"}, nil, []string{"get leases"}},
		"all":                           {[]string{"list nodes", "list pods", "get leases"}, nil, []string{"list nodes", "list pods", "get leases"}},
		"the lease, in a dry run":       {[]string{"get leases"}, dry, nil},
		"namespaces that are not read":  {[]string{"list namespaces"}, nil, nil},
		"namespaces that a policy uses": {[]string{"list namespaces"}, selects, []string{"list namespaces"}},
		"evictions and events":          {[]string{"delete pods", "patch pods", "create events"}, nil, nil},
		"the journal":                   {[]string{"get configmaps"}, nil, nil},
	} {
		s := newSettings()
		if test.set != nil {
			test.set(s)
		}
		err := s.checkAccess(klog.NewContext(t.Context(), klog.Background()), forbidding(test.forbidden...), "https://a:1")
		if len(test.want) == 0 {
			must(t, err)
			continue
		}
		want := "permissions are missing:"
		for _, permission := range test.want {
			_, resource, _ := strings.Cut(permission, " ")
			want += "\n  " + resource + ` is forbidden: cannot ` + permission
		}
		if err == nil || err.Error() != want || hint.Of(err) != howToGrant {
			t.Errorf("%s: got\n%v\nwant\n%s", name, err, want)
		}
	}
}
