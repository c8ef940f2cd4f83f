package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/policy"
)

// usual is the location of the journal that the examples have.
var usual = location{"taint-manager", "kube-system"}

// watchAll watches all namespaces, by the rules of the scope.
func watchAll(ctx context.Context, client kubernetes.Interface, s Scope) (*Watched, error) {
	c := Cluster{client: client, server: "here", now: time.Now, location: usual}
	s.Scheduled = true
	return c.Follow(ctx, &s)
}

// noted returns the notes of an answer, a line each.
func noted(p *foresight.Pending) string { return strings.Join(p.Notes, "\n") }

// While something can't be watched, a note reports it, and the last known state remains shown.
func TestWhatCantBeWatchedIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		seconds, now := int64(300), time.Now()
		client := fake.NewClientset(
			&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n1", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}, Spec: v1.NodeSpec{Taints: []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute}}}},
			&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: "a", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}, Spec: v1.PodSpec{NodeName: "n1", Tolerations: []v1.Toleration{{Key: "key", Operator: v1.TolerationOpExists, TolerationSeconds: &seconds}}}},
		)
		of, err := watchAll(ctx, client, Scope{})
		if err != nil {
			t.Fatal(err)
		}
		seen := of.Pending(ctx)
		if len(seen.Pods) != 1 || seen.Pods[0].SinceFrom != foresight.NotKnown || !seen.Pods[0].At.Equal(now.Add(300*time.Second)) {
			t.Fatalf("at first: %+v", seen.Pods)
		}
		time.Sleep(100 * time.Second)
		if again := of.Pending(ctx); !again.Pods[0].At.Equal(*seen.Pods[0].At) {
			t.Errorf("the latest time has moved with the time: %v", again.Pods[0].At)
		}
		of.note("pods", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil))
		if notes := noted(of.Pending(ctx)); !strings.Contains(notes, "the pods can't be watched, so this may be out of date: ") {
			t.Errorf("notes: %s", notes)
		}
		of.note("pods", nil)
		of.note("nodes", fmt.Errorf("list: %w", context.Canceled)) // a watch that was replaced
		if err := client.CoreV1().Pods("shop").Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if after := of.Pending(ctx); len(after.Pods) != 0 || strings.Contains(noted(after), "out of date") {
			t.Errorf("at last: %+v", after)
		}
		cancel()
		synctest.Wait()
	})
}

// An API server's cache may lag behind the one that was read first: pods that wait there would be missing for a moment.
func TestAWatchDoesNotBeginWithACache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var lists atomic.Int32
		client := fake.NewClientset()
		client.PrependReactor("list", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
			lists.Add(1)
			if version := a.(clienttesting.ListActionImpl).ListOptions.ResourceVersion; version != "" {
				t.Errorf("lists %s at version %q or later, want all that was written so far", a.GetResource().Resource, version)
			}
			return false, nil, nil
		})
		if _, err := watchAll(ctx, client, Scope{}); err != nil {
			t.Fatal(err)
		}
		before := lists.Load()
		synctest.Wait()
		if after := lists.Load(); after < before+2 {
			t.Errorf("%d lists after the first, want those of nodes and pods", after-before)
		}
		cancel()
		synctest.Wait()
	})
}

// Why the labels of namespaces are not known is reported in a watch as without one.
func TestAWatchSaysWhyNamespacesAreNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		old := metav1.NewTime(time.Now().Add(-time.Hour))
		client := fake.NewClientset(
			&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n1", CreationTimestamp: old}, Spec: v1.NodeSpec{Taints: []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute}}}},
			&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: "a", CreationTimestamp: old}, Spec: v1.PodSpec{NodeName: "n1"}},
		)
		client.PrependReactor("list", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(v1.Resource("namespaces"), "", errors.New("no"))
		})
		prod := policy.Policy{Name: "prod", Method: policy.Hold, Match: policy.Match{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}}}
		rules, err := foresight.NewRuleset(policy.Config{Policies: []policy.Policy{prod}}, false)
		if err != nil {
			t.Fatal(err)
		}
		of, err := watchAll(ctx, client, Scope{Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"the labels of one namespace (shop), by which policies select, are unknown (this user may not list namespaces, which 'kubectl create clusterrolebinding taint-manager-viewer --clusterrole=taint-manager-viewer --user=USER' grants): pods there count as held"}
		if diff := cmp.Diff(want, of.Pending(ctx).Incomplete); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// published is the state of the journal of a manager with this configuration.
func published(t *testing.T, c journal.Config) *v1.ConfigMap {
	t.Helper()
	text, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return &v1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: usual.namespace, Name: store.Names(usual.name())[journal.StateObject], ResourceVersion: "1"},
		Data:       journal.EncodeState(journal.Heartbeat{Written: time.Now()}, nil, text),
	}
}

// asRunning makes the rules those of a configuration.
func asRunning(c journal.Config) (foresight.Ruleset, error) {
	return foresight.NewRuleset(policy.Config{Method: c.Method, Policies: c.Policies}, c.Paused)
}

// opened counts the watches of pods and nodes that are open.
type opened struct{ atomic.Int32 }

// counted is a watch that is counted until it is stopped.
type counted struct {
	watch.Interface
	stop func()
}

func (c counted) Stop() {
	c.stop()
	c.Interface.Stop()
}

// count makes the watches of the client count.
func (o *opened) count(client *fake.Clientset) {
	client.PrependWatchReactor("*", func(a clienttesting.Action) (bool, watch.Interface, error) {
		w, err := client.Tracker().Watch(a.GetResource(), a.GetNamespace())
		o.Add(1)
		return true, counted{w, sync.OnceFunc(func() { o.Add(-1) })}, err
	})
}

// drained has the pod shop/a on a node that a policy drains, and a manager whose configuration does not have the policy.
func drained(t *testing.T) *fake.Clientset {
	t.Helper()
	old := metav1.NewTime(time.Now().Add(-time.Hour))
	return fake.NewClientset(published(t, journal.Config{Method: policy.Delete}),
		&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n1", CreationTimestamp: old}, Spec: v1.NodeSpec{Taints: []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoSchedule}}}},
		&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: "a", CreationTimestamp: old}, Spec: v1.PodSpec{NodeName: "n1"}},
	)
}

// publish lets the manager publish the configuration that drains, and waits until a watch has read it.
func publish(ctx context.Context, t *testing.T, client *fake.Clientset) {
	t.Helper()
	drains := policy.Policy{
		Name: "drain", Method: policy.Delete, Tolerations: &policy.Tolerations{Absent: &metav1.Duration{Duration: time.Hour}},
		Match: policy.Match{Taints: []policy.Taint{{Key: "key", Effects: []v1.TaintEffect{v1.TaintEffectNoSchedule}}}, OwnerKinds: []string{"None"}},
	}
	state := published(t, journal.Config{Policies: []policy.Policy{drains}})
	if _, err := client.CoreV1().ConfigMaps(usual.namespace).Update(ctx, state, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(journalInterval)
	synctest.Wait()
}

func TestAWatchJudgesByTheConfigurationInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		client, watches := drained(t), opened{}
		watches.count(client)
		of, err := watchAll(ctx, client, Scope{Running: asRunning})
		if err != nil {
			t.Fatal(err)
		}
		if first := of.Pending(ctx); len(first.Pods) != 0 || first.Incomplete != nil || first.By != "" {
			t.Errorf("by the default rules: %+v", first)
		}
		publish(ctx, t, client)
		then := of.Pending(ctx)
		if len(then.Pods) != 1 || then.Pods[0].Policy != "drain" || then.By == "" || then.Heartbeat == nil {
			t.Errorf("after a reload: %+v", then)
		}
		if n := watches.Load(); n != 2 || strings.Contains(noted(then), "out of date") {
			t.Errorf("after a reload: %d watches, want those of pods and nodes; notes %q", n, then.Notes)
		}
		cancel()
		synctest.Wait()
	})
}

// If the objects can't be read anew, the watch goes on by the configuration that it knows, says so, and tries again.
func TestAWatchKeepsItsConfigurationWhileItCantReadByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		client, watches := drained(t), opened{}
		watches.count(client)
		var broken atomic.Bool
		client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			return broken.Load(), nil, apierrors.NewInternalError(errors.New("broken"))
		})
		of, err := watchAll(ctx, client, Scope{Running: asRunning})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		broken.Store(true)
		publish(ctx, t, client)
		meanwhile := of.Pending(ctx)
		if len(meanwhile.Pods) != 0 || !strings.Contains(noted(meanwhile), "the policies can't be watched, so this may be out of date: ") {
			t.Errorf("meanwhile: %d pods, notes %q", len(meanwhile.Pods), meanwhile.Notes)
		}
		broken.Store(false)
		time.Sleep(journalInterval)
		synctest.Wait()
		then := of.Pending(ctx)
		if n := watches.Load(); len(then.Pods) != 1 || n != 2 || strings.Contains(noted(then), "out of date") {
			t.Errorf("at last: %d pods, %d watches, notes %q", len(then.Pods), n, then.Notes)
		}
		cancel()
		synctest.Wait()
	})
}

// The manager may publish another configuration while the objects are read.
func TestAnAnswerByAConfigurationThatHasChangedIsIncomplete(t *testing.T) {
	client := fake.NewClientset(published(t, journal.Config{Method: policy.Delete}), &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n1"}})
	client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		err := client.Tracker().Update(v1.SchemeGroupVersion.WithResource("configmaps"), published(t, journal.Config{Method: policy.Evict}), usual.namespace)
		return false, nil, err
	})
	c := Cluster{client: client, server: "here", now: time.Now, location: usual}
	m, err := Load(t.Context(), c, &Scope{Running: asRunning, Scheduled: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"the configuration of the manager has changed meanwhile; ask again"}
	if diff := cmp.Diff(want, m.Pending(m.At(), nil).Incomplete); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheTimeIsTheAPIServersAsFarAsItsAnswersShow(t *testing.T) {
	for _, c := range []struct{ least, most, want time.Duration }{
		{0, 0, 0},
		{-300 * time.Millisecond, 700 * time.Millisecond, 0},
		{time.Hour, time.Hour + time.Second, -time.Hour},
		{-time.Hour, time.Second - time.Hour, time.Hour - time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			now := serverTime(func(time.Time) (least, most time.Duration) { return c.least, c.most })
			if got := time.Until(now()); got != c.want {
				t.Errorf("ahead by %v to %v: corrected by %v, want %v", c.least, c.most, got, c.want)
			}
		})
	}
}
