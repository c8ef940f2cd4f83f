package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// usual is the location of the journal that the examples have.
var usual = location{"taint-manager", "kube-system"}

// watchAll watches all namespaces.
func watchAll(ctx context.Context, client kubernetes.Interface, rules foresight.Ruleset) (*Watched, error) {
	c := Cluster{client: client, server: "here", now: time.Now, location: usual}
	return c.Follow(ctx, &Scope{Rules: rules, Scheduled: true})
}

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
		of, err := watchAll(ctx, client, foresight.Ruleset{})
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
		if notes := strings.Join(of.Pending(ctx).Notes, "\n"); !strings.Contains(notes, "the pods can't be watched, so this may be out of date: ") {
			t.Errorf("notes: %s", notes)
		}
		of.note("pods", nil)
		if err := client.CoreV1().Pods("shop").Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if after := of.Pending(ctx); len(after.Pods) != 0 || strings.Contains(strings.Join(after.Notes, "\n"), "out of date") {
			t.Errorf("at last: %+v", after)
		}
		cancel()
		synctest.Wait()
	})
}

// Why a pod stays is judged anew after each change.
func TestAWatchSaysOfAPodWhetherItStaysNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n1"}, Spec: v1.NodeSpec{Taints: []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute}}}}
		client := fake.NewClientset(n, &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: "a"}, Spec: v1.PodSpec{NodeName: "n1"}})
		of, err := watchAll(ctx, client, foresight.Ruleset{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if change, _ := of.Ended("a"); change != Gone {
			t.Errorf("on a tainted node: %s", change)
		}
		n = n.DeepCopy()
		n.Spec.Taints = nil
		if _, err := client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if change, _ := of.Ended("a"); change != Cancelled {
			t.Errorf("without the taint: %s", change)
		}
		cancel()
		synctest.Wait()
	})
}

// The nodes are hidden: the records of the journal replace them, partition by partition.
func TestAWatchWithoutNodesGoesByTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		now := time.Now()
		client := fake.NewClientset(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: "a"}, Spec: v1.PodSpec{NodeName: "n4"}})
		client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", nil)
		})
		of, err := watchAll(ctx, client, foresight.Ruleset{})
		if err != nil {
			t.Fatal(err)
		}
		if first := of.Pending(ctx); len(first.Pods) != 0 || first.Undecided == nil || *first.Undecided != 1 {
			t.Fatalf("at first: %+v", first)
		}
		page := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "taint-manager-journal-7", ResourceVersion: "2"}, Data: map[string]string{
			"_journal": fmt.Sprintf(`{"version":1,"written":%q}`, now.UTC().Format(time.RFC3339Nano)),
			"n4":       fmt.Sprintf(`{"uid":"u","taints":[[{"key":"key","effect":"NoExecute","since":%q}]]}`, now.Add(-time.Minute).UTC().Format(time.RFC3339Nano)),
		}}
		if _, err := client.CoreV1().ConfigMaps("kube-system").Create(ctx, page, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if then := of.Pending(ctx); len(then.Pods) != 1 || then.Pods[0].SinceFrom != foresight.FromJournal || then.Undecided != nil {
			t.Errorf("then: %+v", then)
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
		of, err := watchAll(ctx, client, rules)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"the labels of one namespace (shop), by which policies select, are unknown (this user may not list namespaces): their pods count as held"}
		if diff := cmp.Diff(want, of.Pending(ctx).Incomplete); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
