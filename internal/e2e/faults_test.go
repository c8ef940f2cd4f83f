package e2e

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/testcluster"
)

// These break real parts, one after the other.
func TestNothingIsLostWhenAPartBreaks(t *testing.T) {
	w := newWorld(t, testcluster.Options{})
	for _, c := range []struct {
		sentence string
		play     func(*scene)
	}{
		{"the API server hangs over a deadline", serverHangs},
		{"the permission to evict is taken away and given back", permissionTaken},
		{"the leader is killed", leaderKilled},
	} {
		t.Run(c.sentence, func(t *testing.T) { c.play(w.scene(t)) })
	}
}

func serverHangs(s *scene) {
	s.manage(s.T)
	pod := s.pod("p", bears("key", 4))
	tainted := s.taint("key")
	s.wait(2 * time.Second)
	server := s.Component(testcluster.APIServer)
	if err := server.Pause(); err != nil {
		s.Fatal(err)
	}
	s.wait(5 * time.Second)
	if err := server.Resume(); err != nil {
		s.Fatal(err)
	}
	back := time.Now()
	at, ended := s.ends.of(pod.UID, back.Add(30*time.Second))
	if !ended || at.Before(tainted.before.Add(4*time.Second)) {
		s.Fatalf("gone: %v, %v after the taint", ended, at.Sub(tainted.before))
	}
	s.Logf("gone %v after the API server was back", at.Sub(back).Round(time.Millisecond))
}

// permissionTaken is how an operator stops all evictions at once.
func permissionTaken(s *scene) {
	s.manage(s.T)
	bindings := s.admin.RbacV1().ClusterRoleBindings()
	if err := bindings.Delete(s.Context(), "taint-manager-evictions", metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	s.wait(500 * time.Millisecond) // the API server's own cache of permissions
	pod := s.pod("p")
	tainted := s.taint("key")
	s.stays(pod, tainted, 3)
	if event := s.blockedEvent(pod); event.Type != v1.EventTypeWarning {
		s.Errorf("got %+v", event)
	}
	if err := s.Permit(s.Context()); err != nil {
		s.Fatal(err)
	}
	given := time.Now()
	const longestRefusedWait = time.Minute
	at, ended := s.ends.of(pod.UID, given.Add(longestRefusedWait+soon))
	if !ended {
		s.Fatal("the pod did not go when the permission was back")
	}
	s.Logf("gone %v after the permission was back", at.Sub(given).Round(time.Millisecond))
}

// leaderKilled wants the standby to take over with the same countdown.
func leaderKilled(s *scene) {
	const lease, retry = 6 * time.Second, time.Second
	flags := []string{"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s"}
	leader, err := s.StartManager(s.Context(), flags...)
	if err != nil {
		s.Fatal(err)
	}
	s.waitForHolder(s.T, true)
	s.manage(s.T, flags...)
	pod := s.pod("p", bears("key", 4))
	tainted := s.taint("key")
	s.wait(time.Second)
	leader.Kill()
	killed := time.Now()
	within := lease + 22*retry/10
	at, ended := s.ends.of(pod.UID, killed.Add(within+soon))
	if !ended || at.Before(tainted.before.Add(4*time.Second)) {
		s.Fatalf("gone: %v, %v after the taint; want within %v after the kill", ended, at.Sub(tainted.before), within)
	}
	s.Logf("gone %v after the leader was killed", at.Sub(killed).Round(time.Millisecond))
}
