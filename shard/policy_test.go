package shard_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// judgeOf compiles the policies.
func judgeOf(t *testing.T, policies ...policy.Policy) policy.Judge {
	t.Helper()
	set, problems := policy.Compile(policy.Config{Policies: policies})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return policy.Judge{Set: set, Facts: &policy.Facts{}}
}

// newPolicyPlay plays with the pod a, which tolerates gpu for 4 s, and with these policies.
func newPolicyPlay(t *testing.T, policies ...policy.Policy) *play {
	p := newPlay(t)
	p.step(0, shard.Reconfigured{Judge: judgeOf(t, policies...)})
	p.add("a", bears("gpu", 4))
	return p
}

// of returns a policy for a taint key, which is also its name.
func of(key string, m policy.Method) policy.Policy {
	return policy.Policy{Name: key, Match: policy.Match{Taints: []policy.Taint{{Key: key}}}, Method: m}
}

func deletingAfter(p policy.Policy, d time.Duration) policy.Policy {
	p.DeleteAfter = &metav1.Duration{Duration: d}
	return p
}

var blocked = eviction.Outcome{Kind: eviction.Blocked, Cause: eviction.CausePDB}

// wantCall wants the next call to start then and not before, by this method.
func (p *play) wantCall(second float64, m policy.Method, name string) {
	p.t.Helper()
	p.wantNone(second - 0.001)
	if e := p.wantStart(second, "a"); e.Method != m || e.Policy != name {
		p.t.Errorf("second %v: got %s by policy %q, want %s by %q", second, e.Method, e.Policy, m, name)
	}
}

func TestEachMethodOfAPolicyMakesItsOwnCall(t *testing.T) {
	shorter := of("gpu", policy.Evict)
	shorter.GracePeriod = &policy.GracePeriod{Max: metav1.Duration{Duration: 10 * time.Second}}
	longer := of("gpu", policy.Delete)
	longer.Tolerations = &policy.Tolerations{Min: &metav1.Duration{Duration: 20 * time.Second}}
	ten := int64(10)
	for _, c := range []struct {
		name   string
		policy policy.Policy
		at     float64
		want   eviction.Request
	}{
		{"Delete", of("gpu", policy.Delete), 4, eviction.Request{Method: policy.Delete, Policy: "gpu"}},
		{"Delete, with a longer toleration", longer, 20, eviction.Request{Method: policy.Delete, Policy: "gpu"}},
		{"Evict", of("gpu", policy.Evict), 4, eviction.Request{Method: policy.Evict, Policy: "gpu"}},
		{"Evict, with a shorter grace period", shorter, 4, eviction.Request{Method: policy.Evict, Policy: "gpu", GracePeriodSeconds: &ten}},
		{"Hold", of("gpu", policy.Hold), -1, eviction.Request{}},
		{"Ignore", of("gpu", policy.Ignore), -1, eviction.Request{}},
		{"a policy for another taint", of("disk", policy.Ignore), 4, eviction.Request{Method: policy.Delete}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPolicyPlay(t, c.policy)
			p.taint("gpu", 0)
			p.nodeChanged(0)
			if c.at < 0 {
				p.wantNone(1000)
				return
			}
			p.wantNone(c.at - 0.001)
			e := p.wantStart(c.at, "a")
			got := eviction.Request{Method: e.Method, Policy: e.Policy, GracePeriodSeconds: e.GracePeriodSeconds}
			if diff := cmp.Diff(c.want, got); diff != "" || !e.Verdict.At.Equal(at(c.at)) {
				t.Errorf("due %v: %s", e.Verdict.At, diff)
			}
			if note := p.notes[0]; note.Kind != eviction.EvictionStarted || note.Policy != c.want.Policy || note.Method != c.want.Method {
				t.Errorf("got the note %+v", note)
			}
		})
	}
}

func TestAPodThatBudgetsProtectIsDeletedAfterDeleteAfter(t *testing.T) {
	for _, c := range []struct {
		name    string
		first   eviction.Outcome // of the request at second 4
		others  eviction.Outcome // of the further ones
		deleted float64          // -1: never
	}{
		{"blocked by a budget", blocked, blocked, 34},
		{"denied by admission", eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseAdmission}, blocked, 34},
		{"a missing permission does not count", eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseRBAC}, eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseRBAC}, -1},
		{"the end of a namespace does not count", eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseNamespace}, eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseNamespace}, -1},
		{"overload does not count", eviction.Outcome{Kind: eviction.Throttled, RetryAfter: time.Second}, eviction.Outcome{Kind: eviction.Throttled, RetryAfter: time.Second}, -1},
		{"an outage does not count", eviction.Outcome{Kind: eviction.Unavailable}, eviction.Outcome{Kind: eviction.Unavailable}, -1},
		{"a failure does not count", eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseServer}, eviction.Outcome{Kind: eviction.Failed}, -1},
		{"an outage until second 44, then a budget", eviction.Outcome{Kind: eviction.Throttled, RetryAfter: 40 * time.Second}, blocked, 74},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPolicyPlay(t, deletingAfter(of("gpu", policy.Evict), 30*time.Second))
			p.taint("gpu", 0)
			p.nodeChanged(0)
			p.wantCall(4, policy.Evict, "gpu")
			p.ended(4, "a", c.first)
			if got := p.deletedBy(300, c.others); got != c.deleted {
				t.Errorf("deleted at second %v, want %v", got, c.deleted)
			}
		})
	}
}

// deletedBy permits calls every 10 ms until that second, and returns when the DELETE started; -1 if none did. The
// requests before it end so.
func (p *play) deletedBy(second float64, o eviction.Outcome) float64 {
	for now := 4.0; now <= second; now += 0.01 {
		for {
			e := p.step(now, shard.Permitted{})
			if e == nil {
				break
			}
			if e.Method == policy.Delete {
				return float64(int(now*100+0.5)) / 100
			}
			p.ended(now, "a", o)
			if o.Kind == eviction.Unavailable {
				break
			}
		}
	}
	return -1
}

// A broken webhook on evictions must not keep a node from draining when deletion is allowed.
func TestAWebhookThatFailsForFiveMinutesCountsAsARefusal(t *testing.T) {
	fails := eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseWebhook}
	for name, c := range map[string]struct {
		deleteAfter time.Duration
		others      eviction.Outcome // of the requests after the first one, which fails in a webhook at second 4
		from, to    float64          // when the deletion starts; 0: never
	}{
		"it fails on, deleteAfter is short":    {30 * time.Second, fails, 304, 334},
		"it fails on, deleteAfter is long":     {10 * time.Minute, fails, 604, 604},
		"a budget blocks instead":              {30 * time.Second, blocked, 34, 35},
		"another part of the server fails":     {30 * time.Second, eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseServer}, 0, 0},
		"the GET of the node fails in its way": {30 * time.Second, eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseWebhook, NodeRead: true}, 0, 0},
	} {
		p := newPolicyPlay(t, deletingAfter(of("gpu", policy.Evict), c.deleteAfter))
		p.taint("gpu", 0)
		p.nodeChanged(0)
		p.wantCall(4, policy.Evict, "gpu")
		p.ended(4, "a", fails)
		switch got := p.deletedBy(700, c.others); {
		case c.to == 0 && got != -1, c.to > 0 && (got < c.from || got > c.to):
			t.Errorf("%s: deleted at second %v, want %v to %v", name, got, c.from, c.to)
		}
	}
}

func TestADeletionNeedsARequestThatWasRefusedAMinuteBefore(t *testing.T) {
	p := newPolicyPlay(t, deletingAfter(of("gpu", policy.Evict), 2*time.Hour))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	const deleteAt = 4 + 7200
	if e := p.wantStart(deleteAt+100, "a"); e.Method != policy.Evict { // this process begins late: nothing was refused yet
		t.Errorf("got %s", e.Method)
	}
	p.ended(deleteAt+100, "a", blocked)
	if got := p.deletedBy(deleteAt+400, blocked); got != deleteAt+160 {
		t.Errorf("deleted at second %v, want %v", got, deleteAt+160)
	}
}

func TestTheBackoffOfRequestsDoesNotDelayADeletion(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome eviction.Outcome // of each request; the last one has the longest backoff
	}{
		{"blocked", blocked},
		{"denied", eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseAdmission}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPolicyPlay(t, deletingAfter(of("gpu", policy.Evict), 90*time.Second))
			p.taint("gpu", 0)
			p.nodeChanged(0)
			for now := 4.0; now < 90; {
				e := p.step(now, shard.Permitted{})
				if e == nil {
					now += 0.01
					continue
				}
				p.ended(now, "a", c.outcome)
			}
			p.nodeChanged(93)
			p.wantCall(94, policy.Delete, "gpu")
		})
	}
}

func TestTheDeathOfItsNodeDeletesAPodWhoseEvictionIsBlocked(t *testing.T) {
	p := newPolicyPlay(t, deletingAfter(of("gpu", policy.Evict), time.Hour))
	p.change("a", func(pod *taint.Pod) { pod.Tolerations = append(pod.Tolerations, bears(v1.TaintNodeUnreachable, 10)) })
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantCall(4, policy.Evict, "gpu")
	p.ended(4, "a", eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseAdmission})
	p.wantCall(4.75, policy.Evict, "gpu")
	p.taint(v1.TaintNodeUnreachable, 1)
	p.nodeChanged(10)
	p.ended(11, "a", blocked)
	p.wantStart(11, "a")
	if note := p.notes[len(p.notes)-1]; note.Kind != eviction.EvictionStarted || note.Method != policy.Delete || note.Policy != "" {
		t.Errorf("got the note %+v", note)
	}
}

// A deletion that no budget delays counts even if an earlier one, by deleteAfter, may not be sent yet.
func TestADeletionThatNeedsNoRequestDoesNotWaitForARefusal(t *testing.T) {
	p := newPolicyPlay(t, deletingAfter(of("gpu", policy.Evict), 30*time.Second))
	p.change("a", func(pod *taint.Pod) { pod.Tolerations = append(pod.Tolerations, bears("disk", 40)) })
	p.taint("gpu", 0)
	p.taint("disk", 0)
	p.nodeChanged(0)
	rbac := eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseRBAC}
	p.wantCall(4, policy.Evict, "gpu")
	p.ended(4, "a", rbac)
	if got := p.deletedBy(60, rbac); got != 40 {
		t.Errorf("deleted at second %v, want 40", got)
	}
}

func TestAFailedDeletionHasABackoffOfItsOwn(t *testing.T) {
	p := newPolicyPlay(t, deletingAfter(of("gpu", policy.Evict), 30*time.Second))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantCall(4, policy.Evict, "gpu")
	p.ended(4, "a", blocked)
	p.wantStart(34, "a")
	p.ended(34, "a", eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseServer})
	p.wantCall(34.075, policy.Delete, "gpu")
}

func TestAHeldPodHasAViewAndNoCall(t *testing.T) {
	p := newPolicyPlay(t, of("gpu", policy.Hold))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.nodeChanged(1)
	p.wantNone(1000)
	if p.core.Held() != 1 || p.core.Scheduled() != 0 || !p.core.Tracked("a").Held {
		t.Errorf("%d held, %d scheduled", p.core.Held(), p.core.Scheduled())
	}
	v := p.core.Views(at(1000))[0]
	if v.State != eviction.Scheduled || v.Held.String() != "policy gpu" || v.Policy != "gpu" || v.Method != "" || !v.Verdict.At.Equal(at(4)) {
		t.Errorf("got %+v", v)
	}
	if n := p.notes[0]; n.Held.Name != "gpu" || n.Policy != "gpu" || !n.Verdict.At.Equal(at(4)) {
		t.Errorf("got the note %+v", n)
	}
	p.wantNotes(eviction.EvictionHeld)
}

func TestAHoldCancelsWhatIsScheduledAndItsEndSchedulesItAgain(t *testing.T) {
	hold := of("gpu", policy.Hold)
	evict := deletingAfter(of("gpu", policy.Evict), 30*time.Second)
	p := newPolicyPlay(t, evict)
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantCall(4, policy.Evict, "gpu")
	p.ended(4, "a", blocked)

	p.step(5, shard.Reconfigured{Judge: judgeOf(t, hold)})
	p.nodeChanged(5)
	p.wantNone(40)

	// The request from before the hold does not count after it.
	p.step(50, shard.Reconfigured{Judge: judgeOf(t, evict)})
	p.nodeChanged(50)
	if e := p.wantStart(50, "a"); e.Method != policy.Evict {
		t.Errorf("got %s", e.Method)
	}
	p.ended(50, "a", blocked)
	if got := p.deletedBy(100, blocked); got != 80 {
		t.Errorf("deleted at second %v, want 80", got)
	}
	if p.core.Held() != 0 {
		t.Errorf("%d are held, want none", p.core.Held())
	}
}

func TestAHeldPodThatStaysOrIsGoneIsForgotten(t *testing.T) {
	for name, end := range map[string]func(p *play){
		"the taint is lifted": func(p *play) { p.lift("gpu"); p.nodeChanged(2) },
		"its taint is ignored": func(p *play) {
			p.step(2, shard.Reconfigured{Judge: judgeOf(t, of("gpu", policy.Ignore))})
			p.nodeChanged(2)
		},
		"the pod is gone": func(p *play) { p.remove("a"); p.podChanged(2, "a") },
		"the pod finishes": func(p *play) {
			p.change("a", func(pod *taint.Pod) { pod.Phase = v1.PodFailed })
			p.podChanged(2, "a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPolicyPlay(t, of("gpu", policy.Hold))
			p.taint("gpu", 0)
			p.nodeChanged(0)
			end(p)
			if p.core.Held() != 0 || len(p.core.Views(at(3))) != 0 {
				t.Errorf("%d are held, want none", p.core.Held())
			}
			ignorer, stays := map[string]string{"the taint is lifted": "", "its taint is ignored": "policy gpu"}[name]
			if !stays {
				p.wantNotes(eviction.EvictionHeld)
				return
			}
			if n := p.notes[len(p.notes)-1]; n.Held.Name != "gpu" || n.Policy != "gpu" || n.Stays != taint.NotTainted || n.Ignorer != ignorer || !n.Verdict.At.Equal(at(4)) {
				t.Errorf("got the note %+v", n)
			}
			p.wantNotes(eviction.EvictionHeld, eviction.EvictionCancelled)
		})
	}
}

// A hold that begins during a call does not end the call.
func TestAPodThatIsHeldDuringItsCallIsHeldAfterIt(t *testing.T) {
	p := newPolicyPlay(t, of("gpu", policy.Delete))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantCall(4, policy.Delete, "gpu")
	p.step(5, shard.Reconfigured{Judge: judgeOf(t, of("gpu", policy.Hold))})
	p.nodeChanged(5)
	if p.core.Held() != 0 {
		t.Error("it is held during its call")
	}
	p.ended(6, "a", eviction.Outcome{Kind: eviction.Unconfirmed})
	p.wantNone(100)
	p.wantNotes(eviction.EvictionStarted, eviction.EvictionHeld)
}

func TestAPodThatAnotherTaintEvictsIsEvictedAndShowsItsHold(t *testing.T) {
	p := newPolicyPlay(t, of("gpu", policy.Hold))
	p.taint("gpu", 0)
	p.taint("disk", 10)
	p.nodeChanged(0)
	if v := p.core.Views(at(0))[0]; v.Held.Name != "gpu" || v.Policy != "" || v.Method != policy.Delete || !v.Verdict.At.Equal(at(10)) {
		t.Errorf("got %+v", v)
	}
	p.wantCall(10, policy.Delete, "")
}

func TestAnAuditReportsEachDecisionOnceAndChangesNothing(t *testing.T) {
	audit := of("gpu", policy.Evict)
	audit.Name, audit.Mode = "trial", policy.Audit
	audit.Tolerations = &policy.Tolerations{Min: &metav1.Duration{Duration: 20 * time.Second}}
	p := newPolicyPlay(t, audit, of("gpu", policy.Delete))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.nodeChanged(1)
	if n := p.notes[0]; n.Policy != "trial" || n.Method != policy.Evict || !n.Verdict.At.Equal(at(20)) {
		t.Errorf("got the note %+v", n)
	}
	p.wantNotes(eviction.EvictionAudited)

	p.change("a", func(pod *taint.Pod) { pod.Tolerations = []v1.Toleration{bears("gpu", 25)} })
	p.podChanged(2, "a")
	p.wantNotes(eviction.EvictionAudited)
	p.wantCall(25, policy.Delete, "gpu")
	p.wantNotes(eviction.EvictionStarted)
}

func TestAViewNamesThePolicyAndWhenThePodIsDeleted(t *testing.T) {
	p := newPolicyPlay(t, deletingAfter(of("gpu", policy.Evict), 90*time.Second))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	want := func(second float64, m policy.Method, deleteAt float64) {
		t.Helper()
		v := p.core.Views(at(second))[0]
		if v.Policy != "gpu" || v.Method != m || !v.DeleteAt.Equal(at(deleteAt)) || !v.Verdict.At.Equal(at(4)) {
			t.Errorf("second %v: got %+v", second, v)
		}
	}
	want(1, policy.Evict, 94)
	p.wantStart(50, "a")
	p.ended(50, "a", blocked)
	want(51, policy.Evict, 110)
	want(110, policy.Delete, 110)
}

func TestAnEvictionThatAPolicyPlannedIsCancelledWithItsName(t *testing.T) {
	p := newPolicyPlay(t, of("gpu", policy.Evict))
	p.taint("gpu", 1)
	p.nodeChanged(1)
	p.lift("gpu")
	p.nodeChanged(2)
	n := p.notes[0]
	if n.Kind != eviction.EvictionCancelled || n.Policy != "gpu" || n.Method != policy.Evict || !n.Verdict.Start.Equal(at(1)) || !n.Verdict.At.Equal(at(5)) {
		t.Errorf("got %+v", n)
	}
}

// Between the new judge and the next event of a node its evictions are judged by the new one when they are due.
func TestAnEvictionThatIsDueIsJudgedByTheLatestPolicies(t *testing.T) {
	p := newPolicyPlay(t, of("gpu", policy.Delete))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.step(1, shard.Reconfigured{Judge: judgeOf(t, of("gpu", policy.Ignore))})
	p.wantNone(10)
	p.wantNotes(eviction.EvictionCancelled)
}

func TestACallSaysWhatExplainsThatItIsLate(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(p *ratePlay) *eviction.Request
		want eviction.LateBy
	}{
		{"nothing", func(p *ratePlay) *eviction.Request { return p.wantStart(9, "a") }, ""},
		{"a hold that ended after the deadline", func(p *ratePlay) *eviction.Request {
			p.step(1, shard.Reconfigured{Judge: judgeOf(t, of("gpu", policy.Hold))})
			p.nodeChanged(1)
			p.step(8, shard.Reconfigured{})
			p.nodeChanged(8)
			return p.wantStart(9, "a")
		}, eviction.LateByHold},
		{"a hold that ended before the deadline", func(p *ratePlay) *eviction.Request {
			p.step(1, shard.Reconfigured{Judge: judgeOf(t, of("gpu", policy.Hold))})
			p.nodeChanged(1)
			p.step(3, shard.Reconfigured{})
			p.nodeChanged(3)
			return p.wantStart(9, "a")
		}, ""},
		{"a pause that ended after the deadline", func(p *ratePlay) *eviction.Request {
			p.step(1, shard.Reconfigured{Judge: policy.Judge{Facts: &policy.Facts{Paused: true}}})
			p.step(8, shard.Reconfigured{})
			return p.wantStart(9, "a")
		}, eviction.LateByHold},
		{"a rate", func(p *ratePlay) *eviction.Request {
			if uid := p.permit(4); uid != "" {
				t.Fatalf("started %s without a token", uid)
			}
			return p.wantStart(10, "a")
		}, eviction.LateByRate},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newRatePlay(t, policy.Rate{Name: "cluster", EvictionsPerSecond: 0.1, Burst: 1})
			p.add("a", bears("gpu", 4))
			p.taint("gpu", 0)
			p.nodeChanged(0)
			if e := c.play(p); e.LateBy != c.want {
				t.Errorf("got %q, want %q", e.LateBy, c.want)
			}
		})
	}
}

func TestARequestSaysSinceWhenThePodIsRefused(t *testing.T) {
	p := newPolicyPlay(t, deletingAfter(of("gpu", policy.Evict), 30*time.Second))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	if e := p.wantStart(4, "a"); !e.RefusedSince.IsZero() {
		t.Errorf("refused since %v before the first request", e.RefusedSince)
	}
	p.ended(5, "a", blocked)
	p.wantStart(10, "a")
	p.ended(11, "a", blocked)
	if e := p.wantStart(35, "a"); e.Method != policy.Delete || !e.RefusedSince.Equal(at(5)) {
		t.Errorf("got %s, refused since %v", e.Method, e.RefusedSince)
	}
}
