package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// answers is an API server that allows some resources, except the verb and resource in except, or responds with an
// error to everything.
type answers struct {
	err    error
	which  []string
	except string
}

func (a answers) Create(_ context.Context, r *authorizationv1.SelfSubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error) {
	asked := r.Spec.ResourceAttributes
	r.Status.Allowed = slices.Contains(a.which, asked.Resource) && a.except != strings.Trim(asked.Verb+" "+asked.Resource+"/"+asked.Subresource, "/")
	return r, a.err
}

func TestBeingToldToEndWhileWaitingForTheServerIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		err := newSettings().checkAccess(ctx, answers{err: errors.New("connection refused")}, "https://a:1")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAServerThatStaysAwayIsNamedAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err := newSettings().checkAccess(t.Context(), answers{err: errors.New("connection refused")}, "https://a:1")
		if err == nil || !strings.Contains(err.Error(), "https://a:1 did not answer within 10s") || time.Since(start) != 10*time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestWithoutThePermissionsForMetricsItGoesOnAndSaysSo(t *testing.T) {
	var lines []string
	log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	ctx := klog.NewContext(t.Context(), log)
	all := answers{which: []string{"nodes", "pods", "events", "leases", "configmaps"}}
	must(t, newSettings().checkAccess(ctx, all, "https://a:1"))
	said := strings.Join(lines, "\n")
	for _, want := range []string{"create tokenreviews.authentication.k8s.io", "create subjectaccessreviews.authorization.k8s.io", applyRoles} {
		if len(lines) != 1 || !strings.Contains(said, want) {
			t.Errorf("got:\n%s\nwant %s", said, want)
		}
	}
}

func TestWhoDoesNotServeNeedsNothingForIt(t *testing.T) {
	log := funcr.New(func(_, line string) { t.Errorf("said %s", line) }, funcr.Options{})
	s := newSettings()
	s.serving.BindPort = 0
	all := answers{which: []string{"nodes", "pods", "events", "leases", "configmaps"}}
	must(t, s.checkAccess(klog.NewContext(t.Context(), log), all, "https://a:1"))
}

func TestItStartsWithoutAPermissionOnlyWhereEvictionsCanWaitForIt(t *testing.T) {
	for missing, want := range map[string]bool{
		"":                  true,
		"list nodes":        false,
		"watch nodes":       false,
		"list pods":         false,
		"watch pods":        false,
		"get leases":        false,
		"update leases":     false,
		"create leases":     true,
		"delete pods":       true,
		"patch pods/status": true,
		"create events":     true,
	} {
		var said strings.Builder
		log := funcr.New(func(_, line string) { said.WriteString(line) }, funcr.Options{})
		s := newSettings()
		s.serving.BindPort = 0
		all := answers{which: []string{"nodes", "pods", "events", "leases", "configmaps"}, except: missing}
		err := s.checkAccess(klog.NewContext(t.Context(), log), all, "https://a:1")
		if starts := err == nil; starts != want {
			t.Errorf("without %q: got %v", missing, err)
		}
		if told := fmt.Sprint(said.String(), err); !strings.Contains(told, missing) {
			t.Errorf("without %q: it says %s", missing, told)
		}
	}
}

// hanging does not respond to reviews of some resources.
type hanging struct {
	answers
	about []string
}

func (h hanging) Create(ctx context.Context, r *authorizationv1.SelfSubjectAccessReview, o metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error) {
	if slices.Contains(h.about, r.Spec.ResourceAttributes.Resource) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.answers.Create(ctx, r, o)
}

func TestTheStartDoesNotWaitLongForAnswersThatItCanDoWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := make(chan string, 100)
		log := funcr.New(func(_, line string) { lines <- line }, funcr.Options{})
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), log), time.Hour)
		defer cancel()
		all := answers{which: []string{"nodes", "pods", "events", "leases"}}
		start := time.Now()
		must(t, newSettings().checkAccess(ctx, hanging{all, []string{"configmaps", "tokenreviews"}}, "https://a:1"))
		if took := time.Since(start); took != reviewTimeout {
			t.Errorf("it took %s, want %s", took, reviewTimeout)
		}
		close(lines)
		said := ""
		for line := range lines {
			said += line + "\n"
		}
		for _, what := range []string{"Could not ask for all permissions", "create subjectaccessreviews.authorization.k8s.io"} {
			if !strings.Contains(said, what) {
				t.Errorf("it does not say %q: %s", what, said)
			}
		}
	})
}

// slow responds after a second, and denies everything except nodes.
type slow struct{ answers }

func (s slow) Create(ctx context.Context, r *authorizationv1.SelfSubjectAccessReview, o metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error) {
	time.Sleep(time.Second)
	return s.answers.Create(ctx, r, o)
}

func TestItAsksForAllPermissionsAtOnceAndNamesWhatIsMissingInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		denied, err := missing(t.Context(), slow{answers{which: []string{"nodes"}}}, newSettings().rules()[:2])
		must(t, err)
		if diff := cmp.Diff(single(newSettings().rules()[1:2]), single(denied)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("it took %v, want a second", took)
		}
	})
}
