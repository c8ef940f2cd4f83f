package cluster

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/taint-manager/taint-manager/policy"
)

var forNamespaces = policy.Needs{NamespaceLabels: true}

// aNamespace returns a namespace with a label tier; without labels if it is empty.
func aNamespace(name, tier string) *v1.Namespace {
	n := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if tier != "" {
		n.Labels = map[string]string{"tier": tier}
	}
	return n
}

// tierOf returns the label tier of the namespace ns.
func tierOf(of policy.Namespaces) string {
	if of == nil {
		return "none"
	}
	labels, known := of("ns")
	if !known {
		return "unknown"
	}
	return "tier " + labels["tier"]
}

func TestNamespacesAreShownWhileTheyAreNeeded(t *testing.T) {
	steps := []struct {
		name, want string
		do         func(w *world)
		told       []string
	}{
		{"the first list", "tier prod", func(w *world) { w.need(forNamespaces) }, []string{"namespaces"}},
		{"another label", "tier dev", func(w *world) { w.set(aNamespace("ns", "dev")) }, []string{"namespaces"}},
		{"something else", "tier dev", func(w *world) {
			n := aNamespace("ns", "dev")
			n.Annotations, n.Status.Phase = map[string]string{"a": "b"}, v1.NamespaceTerminating
			w.set(n)
		}, nil},
		{"no labels", "tier ", func(w *world) { w.set(aNamespace("ns", "")) }, []string{"namespaces"}},
		{"another namespace", "tier ", func(w *world) { w.set(aNamespace("new", "prod")) }, []string{"namespaces"}},
		{"it is deleted", "unknown", func(w *world) {
			must(w.t, w.client.CoreV1().Namespaces().Delete(w.t.Context(), "ns", metav1.DeleteOptions{}))
		}, []string{"namespaces"}},
		{"they are not needed any longer", "none", func(w *world) { w.need(policy.Needs{}) }, nil},
		{"a change then", "none", func(w *world) { w.set(aNamespace("ns", "test")) }, []string{"namespaces"}},
		{"they are needed again", "tier test", func(w *world) { w.need(forNamespaces) }, nil},
	}
	inWorlds(t, []runtime.Object{aNamespace("ns", "prod"), aPod(), aNode()}, func(t *testing.T, w *world) {
		w.told.take()
		if w.source.Namespaces() != nil {
			t.Error("namespaces that are not needed")
		}
		for _, step := range steps {
			snapshot := w.source.Namespaces()
			before := tierOf(snapshot)
			step.do(w)
			time.Sleep(time.Second)
			w.expect(step.name, step.told...)
			if got := tierOf(w.source.Namespaces()); got != step.want {
				t.Errorf("%s: got %s, want %s", step.name, got, step.want)
			}
			if got := tierOf(snapshot); got != before {
				t.Errorf("%s: the earlier snapshot had %s, and has %s", step.name, before, got)
			}
		}
	})
}

func TestManyChangesOfNamespacesAreOneCall(t *testing.T) {
	inWorlds(t, []runtime.Object{aNamespace("ns", "prod")}, func(t *testing.T, w *world) {
		w.need(forNamespaces)
		time.Sleep(time.Second)
		synctest.Wait()
		w.told.take()
		for i := range 90 {
			w.set(aNamespace("ns", fmt.Sprint(i)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		w.expect("90 changes in 90 ms", "namespaces")
		if got := tierOf(w.source.Namespaces()); got != "tier 89" {
			t.Errorf("got %s", got)
		}
	})
}

func TestNamespacesThatMayNotBeListedAreTroubleThatNamesThePermission(t *testing.T) {
	inAllForms(t, func(t *testing.T, a *api) {
		a.labels = map[string]string{"tier": "prod"}
		allowed := make(chan struct{})
		forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "", fmt.Errorf("no way"))
		a.refuse = func(ask string) (*http.Response, error) {
			if closed(allowed) || !strings.HasSuffix(ask, " namespaces") {
				return nil, nil
			}
			return a.respond(403, forbidden.ErrStatus.DeepCopy()), nil
		}
		a.over(t, func(w *Watcher, _ *record) {
			met := w.Need(forNamespaces)
			time.Sleep(10 * time.Second)
			err := w.Trouble()
			if err == nil || !strings.Contains(err.Error(), "need the permissions list and watch on namespaces") || !strings.Contains(err.Error(), "no way") {
				t.Errorf("got %v", err)
			}
			if closed(errorless(met)) || w.Namespaces() != nil || !w.HasSynced() {
				t.Error("needs are met, or namespaces known, or pods and nodes not in sync")
			}

			must(t, <-w.Need(policy.Needs{}))
			time.Sleep(time.Minute)
			must(t, w.Trouble()) // they are not needed any longer

			met = w.Need(forNamespaces)
			close(allowed)
			must(t, <-met)
			must(t, w.Trouble())
			want := func(what, want string) {
				if got := tierOf(w.Namespaces()); got != want {
					t.Errorf("%s: got %s, want %s", what, got, want)
				}
			}
			want("the list", "tier prod")
			n := aNamespace("ns", "dev")
			a.sendOf("namespaces", watch.Modified, n)
			want("the watch", "tier dev")
			a.sendOf("namespaces", watch.Deleted, n)
			want("the watch, after its end", "unknown")
		})
	})
}

// While labels are not needed, nobody sees that they can't be watched.
func TestNamespacesThatAreNeededAgainAreListedAgain(t *testing.T) {
	inAllForms(t, func(t *testing.T, a *api) {
		a.labels = map[string]string{"tier": "prod"}
		revoked, allowed := make(chan struct{}), make(chan struct{})
		a.refuse = func(ask string) (*http.Response, error) {
			if closed(revoked) && !closed(allowed) && strings.HasSuffix(ask, " namespaces") {
				return a.fail(metav1.StatusReasonForbidden, 403), nil
			}
			return nil, nil
		}
		a.over(t, func(w *Watcher, _ *record) {
			must(t, <-w.Need(forNamespaces))
			must(t, <-w.Need(policy.Needs{}))
			close(revoked)
			a.expire("namespaces")
			time.Sleep(time.Minute)
			met := w.Need(forNamespaces)
			time.Sleep(time.Minute)
			if got := tierOf(w.Namespaces()); closed(errorless(met)) || got != "none" || w.Trouble() == nil {
				t.Errorf("without the permission got %s, trouble %v", got, w.Trouble())
			}
			close(allowed)
			must(t, <-met)
			if got := tierOf(w.Namespaces()); got != "tier prod" {
				t.Errorf("got %s", got)
			}
		})
	})
}
