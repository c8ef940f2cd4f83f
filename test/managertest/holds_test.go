package managertest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// budgeted is an evictor under a budget that permits no eviction. Deletions pass.
type budgeted struct{ *clock }

func (b budgeted) Evict(ctx context.Context, e taintmanager.Eviction) taintmanager.Outcome {
	if e.Method == policy.Evict {
		return taintmanager.Outcome{Kind: eviction.Blocked, Cause: eviction.CausePDB}
	}
	return b.clock.Evict(ctx, e)
}

// wantDeleted wants the pod deleted within five minutes from that moment on.
func (b budgeted) wantDeleted(t *testing.T, pod string, want time.Duration) {
	t.Helper()
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, gone := b.at[pod]; !gone || at < want || at > want+5*time.Minute {
		t.Errorf("pod %s was deleted %t, %v after the start, want %v", pod, gone, at, want)
	}
}

// twoHours evicts, and deletes two hours later.
var twoHours = policy.Policy{Name: "two-hours", Method: policy.Evict, DeleteAfter: lasting(2 * time.Hour)}

// relabel replaces the labels of the object of this kind.
func relabel(t *testing.T, client *fake.Clientset, kind, name string, labels map[string]string) {
	t.Helper()
	var err error
	switch core := client.CoreV1(); kind {
	case "node":
		updateNode(t, client, name, func(n *v1.Node) { n.Labels, n.ResourceVersion = labels, "100" })
	case "pod":
		pod, _ := core.Pods("default").Get(t.Context(), name, metav1.GetOptions{})
		pod = pod.DeepCopy()
		pod.Labels, pod.ResourceVersion = labels, "100"
		_, err = core.Pods("default").Update(t.Context(), pod, metav1.UpdateOptions{})
	case "namespace":
		space, _ := core.Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		space = space.DeepCopy()
		space.Labels, space.ResourceVersion = labels, "100"
		_, err = core.Namespaces().Update(t.Context(), space, metav1.UpdateOptions{})
	}
	must(t, err)
}

// A pod that has been held for a day gets its two hours from the moment at which a label releases it, under the same
// leader and under the next.
func TestDeleteAfterCountsFromTheReleaseByALabel(t *testing.T) {
	quarantined := map[string]string{"quarantine": "yes"}
	selector := &metav1.LabelSelector{MatchLabels: quarantined}
	for _, c := range []struct {
		kind, name string
		match      policy.Match
	}{
		{"node", "node", policy.Match{NodeSelector: selector}},
		{"pod", "pod", policy.Match{PodSelector: selector}},
		{"namespace", "default", policy.Match{NamespaceSelector: selector}},
	} {
		for _, restarts := range []bool{false, true} {
			t.Run(c.kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					node, pod := taintedNode(), podOn("node", "pod")
					node.Labels, pod.Labels, node.ResourceVersion = quarantined, quarantined, "10"
					space := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: quarantined}}
					client, evictor := fake.NewClientset(node, pod, space), budgeted{newClock()}
					o := taintmanager.Options{Evictor: evictor, Journal: newNotebook(), Policies: []policy.Policy{
						{Name: "quarantine", Method: policy.Hold, Match: c.match}, twoHours,
					}}
					r := start(t, client, o)
					time.Sleep(24 * time.Hour)
					relabel(t, client, c.kind, c.name, nil)
					if restarts {
						time.Sleep(30 * time.Second)
						r.stop(t)
						start(t, client, o)
					}
					time.Sleep(4 * time.Hour)
					evictor.wantDeleted(t, "pod", 26*time.Hour)
				})
			})
		}
	}
}

// A node leaves the group for which a breaker has been tripped for a day.
func TestDeleteAfterCountsFromTheReleaseByAnotherGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, evictor := zone(t, 4, 3), budgeted{newClock()}
		start(t, client, taintmanager.Options{
			Evictor: evictor, Journal: newNotebook(), Policies: []policy.Policy{twoHours},
			Guards: policy.Guards{Breakers: []policy.Breaker{zoneOutage()}},
		})
		time.Sleep(24 * time.Hour)
		relabel(t, client, "node", "node-0", map[string]string{"zone": "b"})
		time.Sleep(3 * time.Hour)
		evictor.wantDeleted(t, "pod-0", 26*time.Hour)
	})
}

// A hold of other pods by other taints is in force when the leader changes.
func TestARestartMovesNoDeletionOfAPodThatNothingHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drained, held := taintedNode(), taintedNode()
		held.Name, held.UID, held.Spec.Taints[0].Key = "held", "held", "quarantine"
		drained.ResourceVersion, held.ResourceVersion = "10", "10"
		pod := podOn("node", "pod")
		pod.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Hour))
		client, evictor := fake.NewClientset(drained, held, pod, podOn("held", "held")), budgeted{newClock()}
		o := taintmanager.Options{Evictor: evictor, Journal: newNotebook(), Policies: []policy.Policy{
			{Name: "quarantine", Method: policy.Hold, Match: policy.Match{Taints: []policy.Taint{{Key: "quarantine"}}}}, twoHours,
		}}
		for range 3 {
			r := start(t, client, o)
			time.Sleep(30 * time.Minute)
			r.stop(t)
			time.Sleep(500 * time.Millisecond)
		}
		start(t, client, o)
		time.Sleep(time.Hour)
		evictor.wantDeleted(t, "pod", 2*time.Hour)
	})
}

// A node has carried a NoSchedule taint for a day when a policy on it begins.
func TestAPolicyOnANoScheduleTaintCountsFromItsOwnBegin(t *testing.T) {
	drain := maintenance(policy.Match{})
	drain.Tolerations.Absent = lasting(time.Hour)
	canary, skip, audit := drain, drain, drain
	canary.Name, canary.Match.Namespaces = "canary", []string{"canary"}
	skip.Name, skip.Method, skip.Tolerations = "skip", policy.Ignore, nil
	skip.Match.PodSelector = labelled("skip-drain", "true")
	audit.Name, audit.Mode = "audit", policy.Audit
	narrow := drain
	narrow.Match.PodSelector = labelled("app", "other")
	for name, before := range map[string][]policy.Policy{
		"none before": nil, "an audit": {audit}, "an audit and a canary": {canary, audit}, "a canary": {canary}, "one that skips": {skip},
		"the same policy of other pods": {narrow},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, evictor := drainedNode(), newClock()
				r := start(t, client, taintmanager.Options{Evictor: evictor, Journal: newNotebook(), Policies: before})
				time.Sleep(24 * time.Hour)
				after := slices.Concat(before, []policy.Policy{drain})
				if name == "the same policy of other pods" {
					after = []policy.Policy{drain}
				}
				r.set(t, taintmanager.Policies{Policies: after})
				time.Sleep(3 * time.Hour)
				budgeted{evictor}.wantDeleted(t, "pod", 25*time.Hour)
			})
		})
	}
}

// drainedNode is a cluster of a node that has the NoSchedule taint "drain", and a pod of a ReplicaSet on it.
func drainedNode() *fake.Clientset {
	node, pod := draining(), replica("pod")
	node.ResourceVersion, pod.CreationTimestamp = "10", metav1.NewTime(time.Now().Add(-time.Hour))
	return fake.NewClientset(node, pod)
}

// readOnly is a journal that refuses writes from some moment on.
type readOnly struct {
	*notebook
	refuses atomic.Bool
}

func (r *readOnly) Write(ctx context.Context, partition int, content taintmanager.StoredPartition) (string, error) {
	if r.refuses.Load() {
		return "", errors.New("refused")
	}
	return r.notebook.Write(ctx, partition, content)
}

// The leader could not record that its policy was removed for two hours.
func TestAPolicyThatComesAgainCountsFromThen(t *testing.T) {
	drain := maintenance(policy.Match{})
	drain.Tolerations.Absent = lasting(time.Hour)
	for name, refuses := range map[string]bool{"with a journal": false, "with a journal that can't be written": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, evictor, journal := drainedNode(), newClock(), &readOnly{notebook: newNotebook()}
				o := taintmanager.Options{Evictor: evictor, Journal: journal, Policies: []policy.Policy{drain}}
				before := start(t, client, o)
				time.Sleep(5 * time.Minute)
				before.stop(t)
				journal.refuses.Store(refuses)
				r := start(t, client, o)
				time.Sleep(5 * time.Minute)
				r.set(t, taintmanager.Policies{})
				time.Sleep(2 * time.Hour)
				r.set(t, taintmanager.Policies{Policies: o.Policies})
				time.Sleep(3 * time.Hour)
				budgeted{evictor}.wantDeleted(t, "pod", 3*time.Hour+10*time.Minute)
			})
		})
	}
}

// What waits for the cache, or for a shard, does not wait longer than Run runs.
func TestSetPoliciesAndViewsEndWithRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(taintedNode())
		listsFail(client, "namespaces").Store(true)
		r := start(t, client, taintmanager.Options{Evictor: &recorder{}})
		time.Sleep(time.Second)
		ended := make(chan error, 1)
		go func() {
			_, err := r.SetPolicies(context.Background(), taintmanager.Policies{Policies: []policy.Policy{
				{Name: "p", Method: policy.Hold, Match: prod()},
			}})
			ended <- err
		}()
		time.Sleep(time.Minute)
		r.stop(t)
		if err := <-ended; err == nil {
			t.Error("SetPolicies returned no error")
		}
		if _, err := r.Views(context.Background()); err == nil {
			t.Error("Views returned no error")
		}
	})
}
