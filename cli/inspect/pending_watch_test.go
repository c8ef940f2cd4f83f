package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

func pendingPod(uid, name string, seconds float64, from time.Time) foresight.PendingPod {
	at := from.Add(time.Duration(seconds * float64(time.Second)))
	return foresight.PendingPod{
		Namespace: "shop", Name: name, UID: uid, Node: "node-1", State: foresight.Scheduled,
		Prediction: foresight.Prediction{Evict: true, At: &at, Taint: "node.kubernetes.io/unreachable:NoExecute", Reason: "because"},
	}
}

// A watch goes on where an answer lacks something, and says so instead of that nothing is scheduled.
func TestAWatchSaysWhatIsNotKnown(t *testing.T) {
	now := foresight.NewPending(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), nil)
	now.Incomplete = []string{"half is not known"}
	a := &pendingOptions{everywhere: true, output: output{form: asTable}}
	shown := strings.Join(a.frame(now, false, 0, 0), "\n")
	if strings.Contains(shown, "No eviction") || !strings.Contains(shown, "Note: cannot say all: half is not known.") {
		t.Errorf("a screen has:\n%s", shown)
	}
	var out, notes strings.Builder
	l := &lines{pendingOptions: a, w: &out, notes: &notes}
	for range 2 {
		if err := l.show(now, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := notes.String(); got != "Note: cannot say all: half is not known.\n" {
		t.Errorf("lines have %q", got)
	}
}

// TestAFrameFitsTheTerminal checks what a user sees.
func TestAFrameFitsTheTerminal(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var pods []foresight.PendingPod
	for i := range 9 {
		pods = append(pods, pendingPod(fmt.Sprint(i), fmt.Sprintf("web-5d4f8c7b9-%05d", i), float64(i*30), at))
	}
	now := foresight.NewPending(at, pods)
	now.Notes = []string{"this is a note that is longer than a terminal of eighty columns is wide, and so goes on"}
	a := &pendingOptions{everywhere: true, output: output{form: asTable}}
	for _, c := range []struct{ columns, rows int }{{80, 24}, {160, 24}, {80, 12}, {40, 8}, {20, 3}, {1, 1}} {
		lines := a.frame(now, false, c.columns, c.rows)
		if len(lines) > max(1, c.rows-1) {
			t.Errorf("%d lines on %d rows", len(lines), c.rows)
		}
		for _, line := range lines {
			if len([]rune(line)) > c.columns && strings.Contains(line, " ") {
				t.Errorf("on %d columns: %q", c.columns, line)
			}
		}
	}
	want := []string{
		"2026-05-01T12:00:00Z  Pending: 9 scheduled. Ctrl-C ends this.",
		"",
		"WHEN      AT         NAMESPACE  POD          NODE    STATE      TAINT        WHY",
		"now       12:00:00Z  shop       web-5…00000  node-1  scheduled  node.…hable  -",
		"in 30s    12:00:30Z  shop       web-5…00001  node-1  scheduled  node.…hable  -",
		"in 1m0s   12:01:00Z  shop       web-5…00002  node-1  scheduled  node.…hable  -",
		"... and 6 more",
		"",
		"Note: this is a note that is longer than a terminal of eighty columns is wide,",
		"and so goes on.",
	}
	if diff := cmp.Diff(want, a.frame(now, false, 80, 11)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// stays returns the changes of two pods.
type stays struct{ current }

func (stays) left(uid types.UID) (change, why string) {
	if uid == "stays" {
		return cancelled, "the node has no NoExecute taint"
	}
	return gone, ""
}

func TestOnlyChangesAreShown(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var out, notes strings.Builder
	l := &lines{pendingOptions: &pendingOptions{output: output{form: asTable}}, w: &out, notes: &notes, shown: map[string]foresight.PendingPod{}}
	show := func(seconds int, notes []string, pods ...foresight.PendingPod) {
		now := foresight.NewPending(at.Add(time.Duration(seconds)*time.Second), pods)
		now.Notes = notes
		if err := l.show(now, stays{}); err != nil {
			t.Fatal(err)
		}
	}
	a, b := pendingPod("goes", "a", 10, at), pendingPod("stays", "b", 20, at)
	later, moment, due := pendingPod("goes", "a", 15, at), pendingPod("stays", "b", 20.5, at), pendingPod("goes", "a", 15, at)
	due.State = foresight.Due
	show(0, []string{"one"}, a, b)
	show(1, []string{"one", "two"}, a, b)
	show(2, []string{"two"}, later, moment)
	show(15, nil, due, moment)
	show(16, nil)
	want := `2026-05-01T12:00:00Z scheduled shop/a on node node-1, at 2026-05-01T12:00:10Z: because
2026-05-01T12:00:00Z scheduled shop/b on node node-1, at 2026-05-01T12:00:20Z: because
2026-05-01T12:00:02Z moved shop/a on node node-1, at 2026-05-01T12:00:15Z: because
2026-05-01T12:00:15Z due shop/a on node node-1, at 2026-05-01T12:00:15Z: because
2026-05-01T12:00:16Z gone shop/a on node node-1
2026-05-01T12:00:16Z cancelled shop/b on node node-1: the node has no NoExecute taint
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("Note: one.\nNote: two.\n", notes.String()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
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
		a := &pendingOptions{everywhere: true, judging: newJudging(nil), from: sourceFlags{journalLocation: journalLocation{"taint-manager", "kube-system"}}}
		of, err := watchedCluster{liveCluster{&reached{client: client, server: "here"}, io.Discard, time.Now, &a.from.journalLocation}, a}.Follow(ctx)
		if err != nil {
			t.Fatal(err)
		}
		seen := of.look()
		if len(seen.Pods) != 1 || seen.Pods[0].SinceFrom != foresight.NotKnown || !seen.Pods[0].At.Equal(now.Add(300*time.Second)) {
			t.Fatalf("at first: %+v", seen.Pods)
		}
		time.Sleep(100 * time.Second)
		if again := of.look(); !again.Pods[0].At.Equal(*seen.Pods[0].At) {
			t.Errorf("the latest time has moved with the time: %v", again.Pods[0].At)
		}
		w := of.(*watched)
		w.note("pods", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil))
		if notes := strings.Join(of.look().Notes, "\n"); !strings.Contains(notes, "the pods can't be watched, so this may be out of date: ") {
			t.Errorf("notes: %s", notes)
		}
		w.note("pods", nil)
		if err := client.CoreV1().Pods("shop").Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if after := of.look(); len(after.Pods) != 0 || strings.Contains(strings.Join(after.Notes, "\n"), "out of date") {
			t.Errorf("at last: %+v", after)
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
		a := &pendingOptions{everywhere: true, judging: newJudging(nil), from: sourceFlags{journalLocation: journalLocation{"taint-manager", "kube-system"}}}
		of, err := watchedCluster{liveCluster{&reached{client: client, server: "here"}, io.Discard, time.Now, &a.from.journalLocation}, a}.Follow(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if first := of.look(); len(first.Pods) != 0 || first.Undecided == nil || *first.Undecided != 1 {
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
		if then := of.look(); len(then.Pods) != 1 || then.Pods[0].SinceFrom != foresight.FromJournal || then.Undecided != nil {
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
		basis, err := foresight.NewBasis(policy.Config{Policies: []policy.Policy{prod}}, false)
		if err != nil {
			t.Fatal(err)
		}
		a := &pendingOptions{everywhere: true, watch: true, judging: judging{basis: basis}, from: sourceFlags{journalLocation: journalLocation{"taint-manager", "kube-system"}}}
		of, err := watchedCluster{liveCluster{&reached{client: client, server: "here"}, io.Discard, time.Now, &a.from.journalLocation}, a}.Follow(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"the labels of one namespace (shop) are not known (this user may not list them), and policies select by them: their pods count as held"}
		if diff := cmp.Diff(want, of.look().Incomplete); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
