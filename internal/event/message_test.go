package event

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/truncate"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestMessages(t *testing.T) {
	seconds := int64(30)
	tolerated := marking()
	tolerated.Kind, tolerated.Stays = eviction.EvictionCancelled, taint.NotTainted.String()
	tolerated.Verdict.At = tolerated.Verdict.Start.Add(30*time.Second + 250*time.Millisecond)
	tolerated.Verdict.Toleration = &v1.Toleration{Key: "maintenance", Operator: v1.TolerationOpExists, TolerationSeconds: &seconds}
	held := tolerated
	held.Held = policy.Held{By: policy.HeldByPolicy, Name: "quarantine"}
	ignored := held
	ignored.Stays = "policy drain ignores a taint of the node, and no other one evicts the pod"
	spared, deleted := marking(), marking()
	spared.Kind, spared.Stays, spared.Probably = eviction.EvictionCancelled, taint.NotTainted.String(), eviction.OutageSpared
	deleted.Kind, deleted.Stays, deleted.Probably = eviction.EvictionCancelled, taint.Terminating.String(), eviction.DeletedByDaemonSet
	deleted.Held = held.Held
	blocked, refused, other := marking(), marking(), marking()
	blocked.Kind, refused.Kind, other.Kind = eviction.EvictionStuck, eviction.EvictionStuck, eviction.EvictionStuck
	blocked.Outcome = eviction.Outcome{Kind: eviction.Blocked, Cause: "pdb", Message: "The disruption budget web needs 2 healthy pods and has 2 currently"}
	refused.Outcome = eviction.Outcome{Kind: eviction.Refused, Cause: "rbac", Message: `User "tm" cannot delete resource "pods"`}
	other.Outcome = eviction.Outcome{Kind: eviction.Failed, Cause: "server", Message: "etcdserver: leader changed"}
	tests := []struct {
		note eviction.Note
		want string
	}{
		{marking(), "Marking for deletion Pod shop/web-0 on node n1, due at 2026-05-01T12:00:00Z: " +
			"taint maintenance:NoExecute (countdown started at 2026-05-01T12:00:00Z) is not tolerated"},
		{tolerated, "Cancelling deletion of Pod shop/web-0 on node n1, which was due at 2026-05-01T12:00:30.25Z: " +
			`the node has no NoExecute taint; it was to go because taint maintenance:NoExecute (countdown started at 2026-05-01T12:00:00Z) is tolerated for 30s by toleration "maintenance op=Exists"`},
		{held, "Cancelling deletion of Pod shop/web-0 on node n1, which was due at 2026-05-01T12:00:30.25Z and held by policy quarantine: " +
			`the node has no NoExecute taint; it was to go because taint maintenance:NoExecute (countdown started at 2026-05-01T12:00:00Z) is tolerated for 30s by toleration "maintenance op=Exists"`},
		{ignored, "Cancelling deletion of Pod shop/web-0 on node n1, which was due at 2026-05-01T12:00:30.25Z and held by policy quarantine: " +
			"policy drain ignores a taint of the node, and no other one evicts the pod; it was to go because " +
			`taint maintenance:NoExecute (countdown started at 2026-05-01T12:00:00Z) is tolerated for 30s by toleration "maintenance op=Exists"`},
		{spared, "Cancelling deletion of Pod shop/web-0 on node n1, which was due at 2026-05-01T12:00:00Z: the node has no NoExecute taint, " +
			"but a NoSchedule taint still reports the outage: probably kube-controller-manager has started or changed its leader, every zone is disrupted, or another client has overwritten the node's taints; " +
			"it was to go because taint maintenance:NoExecute (countdown started at 2026-05-01T12:00:00Z) is not tolerated"},
		{deleted, "Cancelling deletion of Pod shop/web-0 on node n1, which was due at 2026-05-01T12:00:00Z and held by policy quarantine: " +
			"the pod is already being deleted, probably by the DaemonSet controller; " +
			"it was to go because taint maintenance:NoExecute (countdown started at 2026-05-01T12:00:00Z) is not tolerated"},
		{blocked, "Eviction of Pod shop/web-0 on node n1, due at 2026-05-01T12:00:00Z, is blocked (pdb), and will be tried again: " +
			"The disruption budget web needs 2 healthy pods and has 2 currently"},
		{refused, "Eviction of Pod shop/web-0 on node n1, due at 2026-05-01T12:00:00Z, is refused (rbac), and will be tried again: " +
			`User "tm" cannot delete resource "pods"`},
		{other, "Eviction of Pod shop/web-0 on node n1, due at 2026-05-01T12:00:00Z, is delayed (server), and will be tried again: " +
			"etcdserver: leader changed"},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, podEvent(&test.note).Message); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
	}
}

func TestAnyMessageIsShortAndValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := marking()
		n.Kind = eviction.EvictionStuck
		n.Outcome.Message = strings.Repeat(rapid.String().Draw(t, "words"), 1+rapid.IntRange(0, 400).Draw(t, "times")) +
			string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		got := podEvent(&n).Message
		if len(got) > truncate.MaxBytes || !utf8.ValidString(got) {
			t.Fatalf("message of %d bytes, valid: %v", len(got), utf8.ValidString(got))
		}
		if whole := strings.ToValidUTF8(n.Outcome.Message, "?"); len(got) < truncate.MaxBytes-utf8.UTFMax && !strings.HasSuffix(got, whole) {
			t.Fatalf("a message of %d bytes was cut", len(got))
		}
	})
}

func TestAnEventNamesThePodByUID(t *testing.T) {
	n := marking()
	at := time.Date(2026, 5, 1, 12, 0, 1, 0, time.UTC)
	n.Pod.Bound, n.Pod.Controller = at.Add(-time.Hour), &taint.Owner{Kind: "StatefulSet", Group: "apps", Name: "web"}
	want := &v1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: eventName("web-0", at, 42), Annotations: map[string]string{
			"taint-manager/deadline": "2026-05-01T12:00:00Z", "taint-manager/taint": "maintenance:NoExecute", "taint-manager/node": "n1",
			"taint-manager/bound": "2026-05-01T11:00:01Z", "taint-manager/workload": "StatefulSet.apps/web",
		}},
		InvolvedObject:      v1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: "shop", Name: "web-0", UID: "6d9f"},
		Type:                "Normal",
		Reason:              "TaintManagerEviction",
		Message:             "Marking for deletion Pod shop/web-0 on node n1, due at 2026-05-01T12:00:00Z: taint maintenance:NoExecute (countdown started at 2026-05-01T12:00:00Z) is not tolerated",
		FirstTimestamp:      metav1.NewTime(at),
		LastTimestamp:       metav1.NewTime(at),
		Count:               1,
		Source:              v1.EventSource{Component: "taint-eviction-controller"},
		ReportingController: "taint-eviction-controller",
	}
	got := podEvent(&n)
	stamp(got, at, 42)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestADelayedEvictionIsAWarning(t *testing.T) {
	n := marking()
	n.Kind = eviction.EvictionStuck
	got := podEvent(&n)
	if got.Type != v1.EventTypeWarning || got.Reason != "EvictionBlocked" {
		t.Errorf("event %s %s, want Warning EvictionBlocked", got.Type, got.Reason)
	}
}

func TestAnyPodNameMakesAValidEventName(t *testing.T) {
	label := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOfN(label, 1, 12).Draw(t, "labels"), ".")
		if len(name) > maxName {
			name = strings.TrimRight(name[:maxName], ".-")
		}
		serial := rapid.Uint64().Draw(t, "serial")
		got := eventName(name, time.Now(), serial)
		if problems := validation.IsDNS1123Subdomain(got); len(problems) > 0 {
			t.Fatalf("%q: %v", got, problems)
		}
		if got == eventName(name, time.Now(), serial+1) {
			t.Fatalf("%q is not unique", got)
		}
	})
}

// Wherever a long name is cut, be it at a dot or a dash, the event's name is valid.
func TestALongPodNameIsCutWhereItMayBe(t *testing.T) {
	for length := 200; length <= maxName; length++ {
		for _, middle := range []string{"a.", "a--"} {
			name := strings.Repeat(middle, maxName)[:length-1] + "z"
			got := eventName(name, time.Now(), 1)
			if problems := validation.IsDNS1123Subdomain(got); len(problems) > 0 {
				t.Fatalf("%q: %v", got, problems)
			}
		}
	}
}
