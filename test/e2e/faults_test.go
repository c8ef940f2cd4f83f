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
		{"the API server hangs over a deadline", hangs(testcluster.APIServer)},
		{"etcd hangs behind a living API server", hangs(testcluster.Etcd)},
		{"a policy refuses deletions for a while", policyRefuses},
		{"the permission to evict is taken away and given back", permissionTaken},
		{"the leader is killed", leaderKilled},
	} {
		t.Run(c.sentence, func(t *testing.T) { c.play(w.scene(t)) })
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
func (f *fault) ended(at time.Time, limit time.Duration, says ...string) {
	f.Helper()
	within(f, time.Until(at.Add(limit)), "all due pods are gone", func() bool { return f.left() == 0 })
	f.Logf("the last due pod was gone %v after the end of the fault", time.Since(at).Round(time.Millisecond))
	f.audit()
	for _, words := range says {
		until(f, "the log says "+words, func() bool {
			log, err := f.manager.Log()
			return err == nil && strings.Contains(log, words)
		})
	}
	f.taint()
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

// away lets something be away for five seconds, over the deadlines.
func (s *scene) away(goes, returns func() error, says ...string) {
	f := s.begin()
	pause(s, 2*time.Second)
	must(s, goes())
	pause(s, 5*time.Second)
	must(s, returns())
	f.ended(time.Now(), 10*time.Second, says...)
}

func serverKilled(s *scene) {
	server := s.Component(testcluster.APIServer)
	kill := func() error { server.Kill(); return nil }
	start := func() error { return server.Start(s.Context()) }
	s.away(kill, start, "The API server can't be watched", "The API server is watched again")
}

func hangs(component string) func(*scene) {
	return func(s *scene) {
		c := s.Component(component)
		s.away(c.Pause, c.Resume, "Evicting the pod")
	}
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
	must(s, s.Apply(s.Context(), fmt.Sprintf(denial, s.node)))
	witness := s.pod("witness", exists("key"))
	until(s, "the policy is in force", func() bool {
		err := s.admin.CoreV1().Pods("default").Delete(s.Context(), witness.Name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err) || apierrors.IsInvalid(err)
	})
	f := s.begin()
	pause(s, time.Until(f.deadline.Add(4*time.Second)))
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
	must(s, bindings.Delete(s.Context(), s.node, metav1.DeleteOptions{}))
	f.ended(time.Now(), 20*time.Second, "is stuck", "deletions are frozen")
}

// permissionTaken deletes the permission, as an operator does to stop all evictions at once.
func permissionTaken(s *scene) {
	f := s.begin()
	bindings := s.admin.RbacV1().ClusterRoleBindings()
	must(s, bindings.Delete(s.Context(), "taint-manager-evictions", metav1.DeleteOptions{}))
	pause(s, time.Until(f.deadline.Add(3*time.Second)))
	if n := f.left(); n != len(f.due) {
		s.Errorf("%d of %d due pods are left without the permission to evict", n, len(f.due))
	}
	for _, pod := range f.due {
		now, err := s.admin.CoreV1().Pods("default").Get(s.Context(), pod.name, metav1.GetOptions{})
		must(s, err)
		s.blockedEvent(now)
	}
	must(s, s.Permit(s.Context()))
	f.ended(time.Now(), 20*time.Second, "is stuck", "cannot patch resource")
}

// leaderKilled requires the standby to take over with the same countdown.
func leaderKilled(s *scene) {
	const lease, retry = 6 * time.Second, time.Second
	leader := s.leader(s)
	f := s.begin(election...)
	pause(s, time.Second)
	leader.Kill()
	f.ended(time.Now(), lease+22*retry/10+soon, "Seen a leader", "Evicting the pod")
}
