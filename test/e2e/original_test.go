package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/builtin"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// newLeavingPods creates pods that stay for a while after their deletion, each with the tolerations for its number.
func newLeavingPods(t *testing.T, w *world, name string, nodes, podsEach int, tolerations func(i int) []v1.Toleration) *podLoad {
	t.Helper()
	c := newPodLoad(t, w.admin, name, nodes, 0)
	c.fill(t, v1.NamespaceDefault, podsEach, func(i int, p *v1.Pod) {
		p.Spec.TerminationGracePeriodSeconds, p.Spec.Tolerations = new(int64(30)), tolerations(i)
	})
	return c
}

// launchOriginal runs the original until the test ends, and waits until it evicts.
func (w *world) launchOriginal(t *testing.T) {
	t.Helper()
	o, err := w.LaunchOriginal(t.Context())
	must(t, err)
	t.Cleanup(func() {
		if err := o.Stop(); err != nil {
			t.Error(err)
		}
	})
	probe := newLeavingPods(t, w, "probe", 1, 1, func(int) []v1.Toleration { return nil })
	probe.taint(t, true)
	probe.gone(t, w.deletions, 0)
}

// Without policies both evict the same pods at the same times, and what one has deleted the other does not change.
func TestBothRunningDeleteEachPodOnceAndNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true, AuditLevel: "Metadata"})
	w.launchOriginal(t)
	w.manage(t, "--leader-elect=false")
	pods := newLeavingPods(t, w, "both", 6, 20, func(i int) []v1.Toleration {
		return [][]v1.Toleration{nil, {bears("crowd", 2)}, {bears("crowd", 4)}, {exists("crowd")}}[i%4]
	})
	others := newLeavingPods(t, w, "others", 1, 10, func(int) []v1.Toleration { return nil })
	staying := len(pods.Pods) / 4
	pods.taint(t, true)
	pods.gone(t, w.deletions, staying)
	pause(t, 3*time.Second) // for a second deletion, which must not come

	deletes, by := w.acceptedDeletions(t)
	list, err := w.admin.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	terminating, wrote := 0, map[string]int{}
	for i := range list.Items {
		pod := &list.Items[i]
		if strings.HasPrefix(pod.Name, "probe-") {
			continue
		}
		gone := pod.DeletionTimestamp != nil
		if gone {
			terminating++
		}
		if n := deletes[pod.Name]; gone && (n < 1 || n > 2) || !gone && n != 0 {
			t.Errorf("%s: %d accepted deletions, terminating: %v", pod.Name, n, gone)
		}
		if writer := builtin.Writer(pod); gone {
			wrote[writer]++
		}
		if gone && *pod.DeletionGracePeriodSeconds != 30 {
			t.Errorf("%s: its grace period became %d s", pod.Name, *pod.DeletionGracePeriodSeconds)
		}
	}
	if want := len(pods.Pods) - staying; terminating != want {
		t.Errorf("%d pods terminate, want %d", terminating, want)
	}
	if want := len(pods.Pods) + len(others.Pods); len(list.Items)-1 != want {
		t.Errorf("%d pods are there, want all %d: each terminates for its grace period", len(list.Items)-1, want)
	}
	if wrote[evict.FieldManager]+wrote["kube-controller-manager"] != terminating {
		t.Errorf("the conditions were written by %v, want %s and kube-controller-manager", wrote, evict.FieldManager)
	}
	t.Logf("%d pods were deleted; accepted requests by client: %v; conditions by field manager: %v", terminating, by, wrote)
}

// acceptedDeletions counts the accepted DELETEs of each pod, and those of each client.
func (w *world) acceptedDeletions(t *testing.T) (ofPod, byClient map[string]int) {
	t.Helper()
	ofPod, byClient = map[string]int{}, map[string]int{}
	for _, r := range audited(t, w.AuditLog()) {
		if r.Verb == "delete" && r.ObjectRef.Resource == "pods" && r.ResponseStatus.Code == 200 && !strings.HasPrefix(r.ObjectRef.Name, "probe") {
			ofPod[r.ObjectRef.Name]++
			byClient[r.User.Username]++
		}
	}
	return ofPod, byClient
}

const holdingPolicy = configHead + `
policies:
- name: quarantine
  match: {taints: [{key: crowd}]}
  method: Hold
`

// configFile returns the path of a configuration file with this content.
func configFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// The pause and the policy keep taint-manager from evicting first.
func TestTheOriginalIsNoticedAndOtherDeletionsAreNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true})
	long := func(int) []v1.Toleration { return []v1.Toleration{bears("crowd", 3600)} }
	m, err := w.StartManager(t.Context(), "--leader-elect=false", "--paused")
	must(t, err)
	deleted := newLeavingPods(t, w, "deleted", 1, 2, long)
	deleted.taint(t, true)
	w.awaitScheduled(t, m, 2)
	drain := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: deleted.Pods[0].Name}}
	must(t, w.admin.CoreV1().Pods("default").EvictV1(t.Context(), drain))
	must(t, w.admin.CoreV1().Pods("default").Delete(t.Context(), deleted.Pods[1].Name, metav1.DeleteOptions{}))
	w.awaitScheduled(t, m, 0)
	pause(t, time.Second) // for the request about the drained pod
	if ready := w.readyz(t, m); strings.Contains(ready, "[!]builtin") {
		t.Errorf("a drain and a deletion are taken for the original:\n%s", ready)
	}
	if err := m.Stop(); err != nil { // the next request would have to wait for a minute
		t.Fatal(err)
	}

	m = w.manage(t, "--leader-elect=false", "--config="+configFile(t, holdingPolicy))
	evicted := newLeavingPods(t, w, "evicted", 1, 1, func(int) []v1.Toleration { return []v1.Toleration{bears("crowd", 3)} })
	evicted.taint(t, true)
	w.awaitScheduled(t, m, 1)
	w.launchOriginal(t)
	evicted.gone(t, w.deletions, 0)
	w.awaitNotice(t, m)
}

// awaitScheduled waits until this number of evictions are scheduled.
func (w *world) awaitScheduled(t *testing.T, m *testcluster.Manager, want int) {
	t.Helper()
	until(t, fmt.Sprintf("%d evictions are scheduled", want), func() bool {
		return strings.Contains(body(t, m.Page()+"api/v1/evictions?limit=1"), fmt.Sprintf(`"total":%d,`, want))
	})
}

// readyz returns the readiness of the manager with its remarks.
func (w *world) readyz(t *testing.T, m *testcluster.Manager) string {
	t.Helper()
	return body(t, "https://"+m.Address()+"/readyz?verbose")
}

// remarks returns the remarks with names, from the page's address.
func (w *world) remarks(t *testing.T, m *testcluster.Manager) string {
	t.Helper()
	return body(t, m.Page()+"remarks")
}

func body(t *testing.T, url string) string {
	t.Helper()
	_, text := ask(t, anyone(), url)
	return text
}

// awaitNotice waits until the manager reports the original in its remarks, and expects the same of log, metric, readiness
// and page.
func (w *world) awaitNotice(t *testing.T, m *testcluster.Manager) {
	t.Helper()
	const sentence = "the built-in controller still runs; this breaks policy quarantine (method: Hold); switch taint-eviction-controller off on all control-plane nodes (docs/switching-over.md)"
	until(t, "the original is noticed", func() bool {
		return strings.Contains(w.remarks(t, m), "[!]builtin: kube-controller-manager has evicted pod default/")
	})
	if n := strings.Count(w.logOf(t, m), "The built-in controller still runs"); n != 1 {
		t.Errorf("%d lines in the log, want 1", n)
	}
	seen := regexp.MustCompile(`(?m)^taint_manager_builtin_seen_timestamp_seconds [1-9]`)
	if _, metrics := ask(t, w.adminTLS(t), "https://"+m.Address()+"/metrics"); !seen.MatchString(metrics) {
		t.Error("the metric does not say when")
	}
	if ready := w.readyz(t, m); !strings.Contains(ready, "[!]builtin: evicts pods, too\n") || strings.Contains(ready, "default/") {
		t.Errorf("readiness says:\n%s", ready)
	}
	for what, text := range map[string]string{"remarks": w.remarks(t, m), "page": body(t, m.Page()+"api/v1/snapshot")} {
		if !strings.Contains(text, sentence) {
			t.Errorf("the %s does not say so:\n%s", what, text)
		}
	}
}
