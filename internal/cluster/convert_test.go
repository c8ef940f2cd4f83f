package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

func at(clock string) metav1.Time {
	t, err := time.Parse(time.RFC3339Nano, "2000-01-01T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return metav1.NewTime(t)
}

func createdAt(t metav1.Time) func(*v1.Pod) { return func(p *v1.Pod) { p.CreationTimestamp = t } }

func TestBoundSince(t *testing.T) {
	now := at("12:00:00.25").Time
	for _, test := range []struct {
		name string
		pod  *v1.Pod
		want metav1.Time
	}{
		{"when it was scheduled, rounded up", aPod(condition(v1.PodScheduled, v1.ConditionTrue, at("11:00:00"))), at("11:00:01")},
		{"when it was created, if it is not known to be scheduled", aPod(createdAt(at("10:00:00"))), at("10:00:01")},
		{"when it was created, if scheduling is not true", aPod(createdAt(at("10:00:00")), condition(v1.PodScheduled, v1.ConditionFalse, at("11:00:00"))), at("10:00:01")},
		{"when it was created, if the transition has no time", aPod(createdAt(at("10:00:00")), condition(v1.PodScheduled, v1.ConditionTrue, metav1.Time{})), at("10:00:01")},
		{"now, if it was in this second", aPod(createdAt(at("12:00:00"))), at("12:00:00.25")},
		{"now, if the API server's clock is ahead", aPod(createdAt(at("12:00:01"))), at("12:00:00.25")},
		{"now, if it is in the far future", aPod(condition(v1.PodScheduled, v1.ConditionTrue, at("23:00:00"))), at("12:00:00.25")},
		{"now, if no time is known", aPod(createdAt(metav1.Time{})), at("12:00:00.25")},
	} {
		if got := BoundSince(test.pod, skew.Instant{Time: now}); !got.Equal(test.want.Time) {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// Times with a monotonic clock reading print it; wall times do not.
func TestBoundSinceIsOnTheMonotonicClock(t *testing.T) {
	now := time.Now()
	bound := BoundSince(aPod(createdAt(metav1.NewTime(now.Add(-time.Hour)))), skew.Instant{Time: now})
	if !strings.Contains(bound.String(), " m=") {
		t.Errorf("%s has no reading of the monotonic clock", bound)
	}
}

func ofDaemonSet(version string) func(*v1.Pod) {
	owner := metav1.OwnerReference{APIVersion: version, Kind: "DaemonSet", Name: "agent", Controller: new(true)}
	return func(p *v1.Pod) { p.OwnerReferences = []metav1.OwnerReference{owner} }
}

func TestPodOf(t *testing.T) {
	now := metav1.Now()
	for _, test := range []struct {
		name string
		pod  *v1.Pod
		want func(*taint.Pod)
	}{
		{"plain", aPod(), func(*taint.Pod) {}},
		{"no priority is 0, and one is kept", aPod(func(p *v1.Pod) { p.Spec.Priority = new(int32(-7)) }), func(p *taint.Pod) { p.Priority = -7 }},
		{"terminating", aPod(func(p *v1.Pod) { p.DeletionTimestamp = &now }), func(p *taint.Pod) { p.Terminating = true }},
		{"mirror", aPod(func(p *v1.Pod) { p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: ""} }), func(p *taint.Pod) { p.Mirror = true }},
		{"disrupted", aPod(condition(v1.DisruptionTarget, v1.ConditionTrue, now)), func(p *taint.Pod) { p.Disrupted = true }},
		{"no longer disrupted", aPod(condition(v1.DisruptionTarget, v1.ConditionFalse, now)), func(*taint.Pod) {}},
		{"of a DaemonSet", aPod(ofDaemonSet("apps/v1")), func(p *taint.Pod) {
			p.Controller, p.Daemon = &taint.Owner{Kind: "DaemonSet", Group: "apps", Name: "agent"}, true
		}},
		{"of a DaemonSet of another group", aPod(ofDaemonSet("apps.example.com/v1")), func(p *taint.Pod) {
			p.Controller = &taint.Owner{Kind: "DaemonSet", Group: "apps.example.com", Name: "agent"}
		}},
		{"unbound", aPod(onNode("")), func(p *taint.Pod) { p.Node = "" }},
		{"empty", &v1.Pod{}, func(p *taint.Pod) { *p = taint.Pod{Bound: p.Bound} }},
	} {
		want := taint.Pod{
			UID: "p1", Namespace: "ns", Name: "p", Node: "n", Bound: now.Time, Phase: v1.PodRunning, Generation: 1,
			Tolerations: aPod().Spec.Tolerations, Labels: map[string]string{"app": "web"},
		}
		test.want(&want)
		if diff := cmp.Diff(want, PodOf(test.pod, now.Time)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
