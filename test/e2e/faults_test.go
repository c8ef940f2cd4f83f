package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// These break real parts, one after the other. After each, every due pod is gone, not before its deadline, no other
// pod is, and the log reports the fault.
func TestNothingIsLostWhenAPartBreaks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{AuditLevel: "Metadata"})
	for _, c := range []struct {
		sentence string
		play     func(*scene)
	}{
		{"the API server is killed over a deadline", serverKilled},
		{"the API server hangs over a deadline", serverHangs},
		{"etcd hangs behind a living API server", etcdHangs},
		{"a policy refuses deletions for a while", policyRefuses},
		{"the permission to evict is taken away and given back", permissionTaken},
		{"the leader is killed", leaderKilled},
	} {
		t.Run(c.sentence, func(t *testing.T) { c.play(w.scene(t)) })
	}
}

func TestAManagerKilledInTheMiddleOfABurstGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bare())
	c := newPodLoad(t, w.admin, "killed", 40, 25)
	others := newPodLoad(t, w.admin, "bystander", 3, 5)
	// Without an election: otherwise the killed process's lease would have to expire first.
	first, err := w.StartManager(t.Context(), "--leader-elect=false")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c.taint(t, true)
	c.gone(t, w.deletions, len(c.pods)*2/3)
	first.Kill()
	killed := time.Now()
	w.manage(t, "--leader-elect=false")
	last := c.gone(t, w.deletions, 0)
	t.Logf("after the kill, the last pod was gone after %v", last.Sub(killed).Round(time.Millisecond))

	awaitDeletions(t, w.AuditLog(), c.podNames()...)
	deleted := map[string]int{}
	for _, r := range ofPods(writes(t, w.AuditLog(), began)) {
		if r.Verb == "delete" {
			deleted[r.ObjectRef.Name]++
		}
	}
	twice := 0
	for _, pod := range c.pods {
		if n := deleted[pod.Name]; n != 1 {
			twice++ // the answer was lost when the process was killed
			if n == 0 || n > 2 {
				t.Errorf("%s was deleted %d times", pod.Name, n)
			}
		}
	}
	if twice > 32 {
		t.Errorf("%d pods were deleted twice, more than were under way", twice)
	}
	for _, pod := range others.pods {
		if deleted[pod.Name] != 0 {
			t.Errorf("%s was deleted; its node has no taint", pod.Name)
		}
	}
}

// fault is a tainted node with pods that are due at different times, and pods that stay.
type fault struct {
	*scene
	manager  *testcluster.Manager
	tainted  moment
	due      map[types.UID]duePod
	bearing  []*v1.Pod
	deadline time.Time // the latest
}

type duePod struct {
	name    string
	seconds int64
}

// begin creates pods on the node, some of which are due in 3 and 4 seconds, and taints it.
func (s *scene) begin(flags ...string) *fault {
	s.Helper()
	f := &fault{scene: s, due: map[types.UID]duePod{}}
	f.manager = s.manage(s.T, flags...)
	for i := range 6 {
		seconds := int64(3 + i%2)
		pod := s.pod(fmt.Sprint("due-", i), bears("key", seconds))
		f.due[pod.UID] = duePod{pod.Name, seconds}
	}
	for i := range 3 {
		f.bearing = append(f.bearing, s.pod(fmt.Sprint("bears-", i), exists("key")), s.pod(fmt.Sprint("long-", i), bears("key", 3600)))
	}
	f.tainted = s.taint("key")
	f.deadline = f.tainted.after.Add(4 * time.Second)
	return f
}

// ended requires every due pod to be gone within that time after the end of the fault, and the log to contain these
// words.
func (f *fault) ended(at time.Time, within time.Duration, says ...string) {
	f.Helper()
	last := at
	f.eventually(at.Add(within), func() bool {
		last = time.Now()
		return f.left() == 0
	})
	f.Logf("the last due pod was gone %v after the end of the fault", last.Sub(at).Round(time.Millisecond))
	f.audit()
	for _, words := range says {
		f.until("the log says "+words, func() bool {
			log, err := f.manager.Log()
			return err == nil && strings.Contains(log, words)
		})
	}
	f.taint()
}

// eventually polls, and fails at the time given.
func (f *fault) eventually(until time.Time, done func() bool) {
	f.Helper()
	for !done() {
		if time.Now().After(until) {
			f.Errorf("%d due pods are left", f.left())
			return
		}
		f.wait(20 * time.Millisecond)
	}
}

// left counts the due pods that still exist; all of them while the API server does not answer.
func (f *fault) left() int {
	list, err := f.admin.CoreV1().Pods("default").List(f.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + f.node})
	if err != nil {
		return len(f.due)
	}
	n := 0
	for i := range list.Items {
		pod := &list.Items[i]
		if _, due := f.due[pod.UID]; due && pod.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

// audit requires every due pod to be deleted, none before its deadline, and no other pod to be touched.
func (f *fault) audit() {
	f.Helper()
	byName := map[string]int64{}
	for _, pod := range f.due {
		byName[pod.name] = pod.seconds
	}
	awaitDeletions(f.T, f.AuditLog(), slices.Collect(maps.Keys(byName))...)
	deleted := map[string]bool{}
	for _, r := range ofPods(writes(f.T, f.AuditLog(), f.tainted.before)) {
		if !strings.HasPrefix(r.ObjectRef.Name, f.node) {
			continue
		}
		seconds, due := byName[r.ObjectRef.Name]
		deadline := f.tainted.before.Add(time.Duration(seconds) * time.Second)
		if !due || r.RequestReceivedTimestamp.Before(deadline) {
			f.Errorf("%s of %s at %v: its deadline is %v, due: %v", r.Verb, r.ObjectRef.Name, r.RequestReceivedTimestamp, deadline, due)
		}
		deleted[r.ObjectRef.Name] = deleted[r.ObjectRef.Name] || r.Verb == "delete" && r.ResponseStatus.Code < 300
	}
	for name := range byName {
		if !deleted[name] {
			f.Errorf("the audit log has no deletion of %s that was accepted", name)
		}
	}
}

func serverKilled(s *scene) {
	f := s.begin()
	s.wait(2 * time.Second)
	server := s.Component(testcluster.APIServer)
	server.Kill()
	s.wait(5 * time.Second)
	if err := server.Start(s.Context()); err != nil {
		s.Fatal(err)
	}
	f.ended(time.Now(), 10*time.Second, "The API server can't be watched", "The API server is watched again")
}

func serverHangs(s *scene) {
	f := s.begin()
	s.wait(2 * time.Second)
	server := s.Component(testcluster.APIServer)
	if err := server.Pause(); err != nil {
		s.Fatal(err)
	}
	s.wait(5 * time.Second)
	if err := server.Resume(); err != nil {
		s.Fatal(err)
	}
	f.ended(time.Now(), 10*time.Second, "Evicting the pod")
}

func etcdHangs(s *scene) {
	f := s.begin()
	s.wait(2 * time.Second)
	etcd := s.Component(testcluster.Etcd)
	if err := etcd.Pause(); err != nil {
		s.Fatal(err)
	}
	s.wait(5 * time.Second)
	if err := etcd.Resume(); err != nil {
		s.Fatal(err)
	}
	f.ended(time.Now(), 10*time.Second, "Evicting the pod")
}

const denial = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [pods]}]
  validations:
  - {expression: "!oldObject.metadata.name.startsWith('%[1]s')", message: deletions are frozen}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`

func policyRefuses(s *scene) {
	if err := s.Apply(s.Context(), fmt.Sprintf(denial, s.node)); err != nil {
		s.Fatal(err)
	}
	witness := s.pod("witness", exists("key"))
	s.until("the policy is in force", func() bool {
		err := s.admin.CoreV1().Pods("default").Delete(s.Context(), witness.Name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err) || apierrors.IsInvalid(err)
	})
	f := s.begin()
	s.wait(time.Until(f.deadline.Add(4 * time.Second)))
	for uid, pod := range f.due {
		now, err := s.admin.CoreV1().Pods("default").Get(s.Context(), pod.name, metav1.GetOptions{})
		if err != nil || now.UID != uid {
			s.Fatalf("%s is gone in spite of the policy: %v", pod.name, err)
		}
		if blocked := s.blockedEvent(now); !strings.Contains(blocked.Message, "deletions are frozen") {
			s.Errorf("the event does not carry the policy's words: %s", blocked.Message)
		}
	}
	bindings := s.admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	if err := bindings.Delete(s.Context(), s.node, metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	f.ended(time.Now(), 20*time.Second, "is stuck", "deletions are frozen")
}

// permissionTaken deletes the permission, as an operator does to stop all evictions at once.
func permissionTaken(s *scene) {
	f := s.begin()
	bindings := s.admin.RbacV1().ClusterRoleBindings()
	if err := bindings.Delete(s.Context(), "taint-manager-evictions", metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	s.wait(time.Until(f.deadline.Add(3 * time.Second)))
	if n := f.left(); n != len(f.due) {
		s.Errorf("%d of %d due pods are left without the permission to evict", n, len(f.due))
	}
	for _, pod := range f.due {
		now, err := s.admin.CoreV1().Pods("default").Get(s.Context(), pod.name, metav1.GetOptions{})
		if err != nil {
			s.Fatal(err)
		}
		s.blockedEvent(now)
	}
	if err := s.Permit(s.Context()); err != nil {
		s.Fatal(err)
	}
	f.ended(time.Now(), 20*time.Second, "is stuck", "cannot patch resource")
}

// leaderKilled requires the standby to take over with the same countdown.
func leaderKilled(s *scene) {
	const lease, retry = 6 * time.Second, time.Second
	leader, err := s.StartManager(s.Context(), election...)
	if err != nil {
		s.Fatal(err)
	}
	s.waitForHolder(s.T, true)
	f := s.begin(election...)
	s.wait(time.Second)
	leader.Kill()
	f.ended(time.Now(), lease+22*retry/10+soon, "Seen a leader", "Evicting the pod")
}
