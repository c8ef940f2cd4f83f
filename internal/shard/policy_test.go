package shard_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// judgeOf compiles the policies.
func judgeOf(t *testing.T, policies ...policy.Policy) policy.Judge {
	t.Helper()
	return judgeWith(t, policy.Guards{}, policies...)
}

func judgeWith(t *testing.T, guards policy.Guards, policies ...policy.Policy) policy.Judge {
	t.Helper()
	set, problems := policy.Compile(policy.Config{Policies: policies, Guards: guards})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return policy.Judge{Set: set, Facts: &policy.Facts{}}
}

// newPolicyPlay plays with the pod a, which tolerates gpu for 4 s, on the node n, which has that taint since second 0, and
// with these policies.
func newPolicyPlay(t *testing.T, policies ...policy.Policy) *play {
	p := newPlay(t)
	p.judge = judgeOf(t, policies...)
	p.add("a", bears("gpu", 4))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	return p
}

// reconfigured replaces the policies, and has the node judged by them.
func (p *play) reconfigured(second float64, policies ...policy.Policy) {
	p.judge = judgeOf(p.t, policies...)
	p.nodeChanged(second)
}

// of returns a policy for a taint key, which is also its name.
func of(key string, m policy.Method) policy.Policy {
	return policy.Policy{Name: key, Match: policy.Match{Taints: []policy.Taint{{Key: key}}}, Method: m}
}

func deletingAfter(p policy.Policy, d time.Duration) policy.Policy {
	p.DeleteAfter = &metav1.Duration{Duration: d}
	return p
}

// tolerating returns the policy, by which pods tolerate the taint for at least this long.
func tolerating(p policy.Policy, d time.Duration) policy.Policy {
	p.Tolerations = &policy.Tolerations{Min: &metav1.Duration{Duration: d}}
	return p
}

// evicting evicts because of gpu, and deletes what was refused for this long.
func evicting(deleteAfter time.Duration) policy.Policy {
	return deletingAfter(of("gpu", policy.Evict), deleteAfter)
}

// wantCall wants the next call to start then and not before, by this method.
func (p *play) wantCall(second float64, m policy.Method, name string) *eviction.Request {
	p.t.Helper()
	p.wantNone(second - 0.001)
	e := p.wantStart(second, "a")
	if e.Method != m || e.Policy != name {
		p.t.Errorf("second %v: got %s by policy %q, want %s by %q", second, e.Method, e.Policy, m, name)
	}
	return e
}

func TestEachMethodOfAPolicyMakesItsOwnCall(t *testing.T) {
	shorter := of("gpu", policy.Evict)
	shorter.GracePeriod = &policy.GracePeriod{Max: metav1.Duration{Duration: 10 * time.Second}}
	ten := int64(10)
	for _, c := range []struct {
		name   string
		policy policy.Policy
		at     float64 // -1: never
		want   eviction.Request
	}{
		{"Delete", of("gpu", policy.Delete), 4, eviction.Request{Method: policy.Delete, Policy: "gpu"}},
		{"Delete, with a longer toleration", tolerating(of("gpu", policy.Delete), 20*time.Second), 20, eviction.Request{Method: policy.Delete, Policy: "gpu"}},
		{"Evict", of("gpu", policy.Evict), 4, eviction.Request{Method: policy.Evict, Policy: "gpu"}},
		{"Evict, with a shorter grace period", shorter, 4, eviction.Request{Method: policy.Evict, Policy: "gpu", GracePeriodSeconds: &ten}},
		{"Hold", of("gpu", policy.Hold), -1, eviction.Request{}},
		{"Ignore", of("gpu", policy.Ignore), -1, eviction.Request{}},
		{"a policy for another taint", of("disk", policy.Ignore), 4, eviction.Request{Method: policy.Delete}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPolicyPlay(t, c.policy)
			if c.at < 0 {
				p.wantNone(1000)
				return
			}
			e := p.wantCall(c.at, c.want.Method, c.want.Policy)
			if diff := cmp.Diff(c.want.GracePeriodSeconds, e.GracePeriodSeconds); diff != "" || !e.Verdict.At.Equal(at(c.at)) {
				t.Errorf("due %v: %s", e.Verdict.At, diff)
			}
		})
	}
}

func TestAPodThatBudgetsProtectIsDeletedAfterDeleteAfter(t *testing.T) {
	refused := func(cause string) eviction.Outcome { return eviction.Outcome{Kind: eviction.Refused, Cause: cause} }
	throttled := func(d time.Duration) eviction.Outcome {
		return eviction.Outcome{Kind: eviction.Throttled, RetryAfter: d}
	}
	slow := failed(eviction.CauseAdmissionSlow)
	webhook, unavailable := failed(eviction.CauseWebhook), eviction.Outcome{Kind: eviction.Unavailable}
	ofNode := webhook
	ofNode.NodeRead = true
	for _, c := range []struct {
		name        string
		deleteAfter time.Duration
		first       eviction.Outcome // of the request at second 4
		others      eviction.Outcome // of the requests after it
		from, to    float64          // when the deletion starts; -1: never
	}{
		{"blocked by a budget", 30 * time.Second, blocked, blocked, 34, 34},
		{"denied by admission", 30 * time.Second, denied, blocked, 34, 34},
		{"blocked, with a long backoff", 90 * time.Second, blocked, blocked, 94, 94},
		{"denied, with a longer backoff", 90 * time.Second, denied, denied, 94, 94},
		{"a missing permission does not count", 30 * time.Second, refused(eviction.CauseRBAC), refused(eviction.CauseRBAC), -1, -1},
		{"the end of a namespace does not count", 30 * time.Second, refused(eviction.CauseNamespace), refused(eviction.CauseNamespace), -1, -1},
		{"overload does not count", 30 * time.Second, throttled(time.Second), throttled(time.Second), -1, -1},
		{"an outage does not count", 30 * time.Second, unavailable, unavailable, -1, -1},
		{"a failure does not count", 30 * time.Second, failed(eviction.CauseServer), failed(eviction.CauseServer), -1, -1},
		{"a budget, then overload for 50 s, which concerns deletions as well", 30 * time.Second, blocked, throttled(50 * time.Second), 54.375, 54.375},
		{"overload until second 44, then a budget", 30 * time.Second, throttled(40 * time.Second), blocked, 74, 74},

		// A broken webhook on evictions must not keep a node from draining when deletion is allowed.
		{"a webhook fails on, deleteAfter is short", 30 * time.Second, webhook, webhook, 304, 334},
		{"a webhook fails on, deleteAfter is long", 10 * time.Minute, webhook, webhook, 604, 604},
		{"a webhook fails, then a budget blocks", 30 * time.Second, webhook, blocked, 34, 35},
		{"admission is slow, deleteAfter is short", 30 * time.Second, slow, slow, 304, 334},
		{"a webhook fails, then another part of the server", 30 * time.Second, webhook, failed(eviction.CauseServer), -1, -1},
		{"a webhook fails, then the GET of the node in its way", 30 * time.Second, webhook, ofNode, -1, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPolicyPlay(t, evicting(c.deleteAfter))
			p.wantCall(4, policy.Evict, "gpu")
			p.ended(4, "a", c.first)
			if got := p.deletedBy(700, c.others); got < c.from || got > c.to {
				t.Errorf("deleted at second %v, want %v to %v", got, c.from, c.to)
			}
		})
	}
}

// Failures of a webhook count as one refusal only while nothing else happens between them.
func TestOnlyAnEpisodeOfWebhookFailuresCountsAsARefusal(t *testing.T) {
	webhook := failed(eviction.CauseWebhook)
	rbac := eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseRBAC}
	throttled := eviction.Outcome{Kind: eviction.Throttled, RetryAfter: 10 * time.Minute}
	for _, c := range []struct {
		name    string
		between eviction.Outcome // of the requests from second 100 to second until
		until   float64
	}{
		{"nothing else happens", webhook, 100},
		{"a permission is missing for an hour", rbac, 3600},
		{"another part of the server fails", failed(eviction.CauseServer), 140},
		{"the API server asks to wait for long", throttled, 140},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPolicyPlay(t, evicting(time.Minute))
			other, now := 4.0, 4.0
			for ; now < 4100; now = max(now+0.001, p.nextSecond()) {
				e := p.start(now)
				switch {
				case e == nil:
				case e.Method == policy.Delete:
					if since := now - other; since < policy.WebhookFailsFor.Seconds() || since > 1000 {
						t.Errorf("deleted %v s after the last other outcome", since)
					}
					return
				case now >= 100 && now < c.until:
					p.ended(now, "a", c.between)
					other = now
				default:
					p.ended(now, "a", webhook)
				}
			}
			t.Error("not deleted")
		})
	}
}

// nextSecond returns the second of the core's next step.
func (p *play) nextSecond() float64 {
	next, _ := p.core.Next()
	return next.Sub(zero).Seconds()
}

// A pod that had to wait for long, as for a rate, met a webhook that was broken twice, not all the time.
func TestWebhookFailuresFarApartAreTwoEpisodes(t *testing.T) {
	p := newPolicyPlay(t, evicting(time.Minute))
	for _, now := range []float64{4, 4 + 600, 4 + 1200} {
		if e := p.wantStart(now, "a"); e.Method != policy.Evict {
			t.Fatalf("second %v: got %s", now, e.Method)
		}
		p.ended(now, "a", failed(eviction.CauseWebhook))
	}
	if e := p.wantStart(4+1800, "a"); e.Method != policy.Evict {
		t.Errorf("got %s after failures 10 minutes apart", e.Method)
	}
}

// The failures are as far apart as those of one episode may be, and the last is as late as one that counts must be.
func TestAnEpisodeOfWebhookFailuresCountsFromItsBoundsOn(t *testing.T) {
	p := newPolicyPlay(t, evicting(time.Minute))
	every, long := policy.WebhookFailsEvery.Seconds(), policy.WebhookFailsFor.Seconds()
	for second := 4.0; second < 4+long; second += every {
		p.tried(second, failed(eviction.CauseWebhook))
	}
	if e := p.tried(4+long, failed(eviction.CauseWebhook)); e.Method != policy.Evict {
		t.Fatalf("got %s after %v s", e.Method, long)
	}
	if e := p.wantStart(4+long, "a"); e.Method != policy.Delete {
		t.Errorf("got %s after an episode of %v s", e.Method, long)
	}
}

// deletedBy starts calls until that second, and returns when the DELETE started; -1 if none did. The requests before it have
// this outcome.
func (p *play) deletedBy(second float64, o eviction.Outcome) float64 {
	for now := 4.0; now <= second; {
		e := p.start(now)
		if e == nil {
			next, _ := p.core.Next()
			now = max(now+0.001, next.Sub(zero).Seconds())
			continue
		}
		if e.Method == policy.Delete {
			return now
		}
		p.ended(now, "a", o)
	}
	return -1
}

func TestWhenADeletionByDeleteAfterStarts(t *testing.T) {
	hold, server := of("gpu", policy.Hold), failed(eviction.CauseServer)
	for name, c := range map[string]struct {
		policies []policy.Policy
		play     func(p *play)
		others   eviction.Outcome // of the requests that follow
		want     float64          // -1: never
	}{
		"one of two holds has ended": {[]policy.Policy{hold, of("disk", policy.Hold)}, func(p *play) {
			p.taint("disk", 0)
			p.nodeChanged(0)
			p.reconfigured(100, evicting(90*time.Second), of("disk", policy.Hold))
			p.tried(100, blocked)
		}, blocked, 190},
		"a hold of another taint begins": {[]policy.Policy{evicting(90 * time.Second), of("disk", policy.Hold)}, func(p *play) {
			p.tried(4, blocked)
			p.taint("disk", 50)
			p.nodeChanged(50)
		}, blocked, 94},
		"it was refused before a hold, and after it": {[]policy.Policy{evicting(30 * time.Second)}, func(p *play) {
			p.tried(4, blocked)
			p.reconfigured(5, hold)
			p.wantNone(40)
			p.reconfigured(50, evicting(30*time.Second))
			if e := p.tried(50, blocked); e.Method != policy.Evict || e.Attempt != 1 {
				p.t.Errorf("got %+v", e)
			}
		}, blocked, 80},
		"it was refused before a hold, and a call lasts through the hold": {
			[]policy.Policy{evicting(30 * time.Second)}, func(p *play) {
				p.tried(4, blocked)
				p.wantStart(4.375, "a")
				p.reconfigured(5, hold)
				p.reconfigured(50, evicting(30*time.Second))
				p.ended(51, "a", server)
			}, server, -1,
		},
		"this process begins late, so the first request is refused after deleteAfter": {
			[]policy.Policy{evicting(2 * time.Hour)}, func(p *play) {
				if e := p.tried(4+7200+100, blocked); e.Method != policy.Evict {
					p.t.Errorf("got %s", e.Method)
				}
			}, blocked, 4 + 7200 + 160,
		},
		// A deletion that no budget delays counts even if an earlier one, by deleteAfter, may not be sent yet.
		"another taint deletes without a request": {[]policy.Policy{evicting(30 * time.Second)}, func(p *play) {
			p.tolerate("a", bears("gpu", 4), bears("disk", 40))
			p.taint("disk", 0)
			p.nodeChanged(0)
		}, eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseRBAC}, 40},
	} {
		p := newPolicyPlay(t, c.policies...)
		c.play(p)
		if got := p.deletedBy(8000, c.others); got != c.want || p.core.Held() != 0 {
			t.Errorf("%s: deleted at second %v, want %v; %d are held", name, got, c.want, p.core.Held())
		}
	}
}

func TestAHoldWithAnEarlierDeadlineEndsNoOther(t *testing.T) {
	p := newPolicyPlay(t, of("gpu", policy.Hold), of("disk", policy.Hold))
	p.taint("disk", 0)
	got := p.core.Step(at(0), shard.NodeChanged{Name: "n"}).Holds
	if diff := cmp.Diff([]shard.Holding{{Policy: "disk", Pods: 1}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestADeletionAfterARefusalIsANewBegin(t *testing.T) {
	p := newPolicyPlay(t, evicting(30*time.Second))
	if e := p.wantCall(4, policy.Evict, "gpu"); !e.First || !e.RefusedSince.IsZero() {
		t.Errorf("got %+v", e)
	}
	p.ended(5, "a", denied)
	if e := p.tried(10, failed(eviction.CauseServer)); e.First || !e.AfterRefusal || !e.RefusedSince.Equal(at(5)) {
		t.Errorf("got %+v", e)
	}
	e := p.tried(35, failed(eviction.CauseServer))
	if e.Method != policy.Delete || !e.First || e.Attempt != 3 || !e.AfterRefusal || !e.RefusedSince.Equal(at(5)) {
		t.Errorf("got %+v", e)
	}
	if e := p.wantCall(35.075, policy.Delete, "gpu"); e.First || e.Attempt != 4 {
		t.Errorf("got %+v, want the first backoff of deletions", e)
	}
}

func TestAHeldPodHasAViewAndNoCall(t *testing.T) {
	p := newPolicyPlay(t, of("gpu", policy.Hold))
	p.nodeChanged(1)
	p.wantNone(1000)
	if p.core.Held() != 1 || p.core.Scheduled() != 0 {
		t.Errorf("%d held, %d scheduled", p.core.Held(), p.core.Scheduled())
	}
	v := p.core.Views(at(1000))[0]
	if v.State != eviction.StateHeld || v.Held.String() != "policy gpu" || v.Policy != "gpu" || v.Method != "" || !v.Verdict.At.Equal(at(4)) {
		t.Errorf("got %+v", v)
	}
	if n := p.notes[0]; n.Held.Name != "gpu" || n.Policy != "gpu" || !n.Verdict.At.Equal(at(4)) {
		t.Errorf("got the note %+v", n)
	}
	p.wantNotes(eviction.EvictionHeld)
	other := of("gpu", policy.Hold)
	other.Name = "other"
	p.reconfigured(1001, other)
	if n := p.notes[0]; n.Held.Name != "other" {
		t.Errorf("by another policy: got the note %+v", n)
	}
	p.wantNotes(eviction.EvictionHeld)
}

func TestAHeldPodThatStaysOrIsGoneIsForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(p *play)
		noted bool
		stays string
	}{
		"the taint is lifted":  {func(p *play) { p.lift("gpu"); p.nodeChanged(2) }, true, "the node has no NoExecute taint"},
		"its taint is ignored": {func(p *play) { p.reconfigured(2, of("gpu", policy.Ignore)) }, true, "policy gpu ignores a taint of the node, and no other one evicts the pod"},
		"the pod is gone":      {func(p *play) { p.remove("a"); p.podChanged(2, "a") }, false, ""},
		"the pod finishes": {func(p *play) {
			p.change("a", func(pod *taint.Pod) { pod.Phase = v1.PodFailed })
			p.podChanged(2, "a")
		}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPolicyPlay(t, of("gpu", policy.Hold))
			c.end(p)
			if p.core.Held() != 0 || len(p.core.Views(at(3))) != 0 {
				t.Errorf("%d are held, want none", p.core.Held())
			}
			if !c.noted {
				p.wantNotes(eviction.EvictionHeld)
				return
			}
			if n := p.notes[1]; n.Held.Name != "gpu" || n.Policy != "gpu" || n.Stays != c.stays || !n.Verdict.At.Equal(at(4)) {
				t.Errorf("got the note %+v", n)
			}
			p.wantNotes(eviction.EvictionHeld, eviction.EvictionCancelled)
		})
	}
}

// A hold that begins during a call does not end the call.
func TestAPodThatIsHeldDuringItsCallIsHeldAfterIt(t *testing.T) {
	p := newPolicyPlay(t, of("gpu", policy.Delete))
	p.wantCall(4, policy.Delete, "gpu")
	p.reconfigured(5, of("gpu", policy.Hold))
	if p.core.Held() != 0 {
		t.Error("it is held during its call")
	}
	p.ended(6, "a", eviction.Outcome{Kind: eviction.Unconfirmed})
	p.wantNone(100)
	p.wantNotes(eviction.EvictionHeld)
}

func TestAPodThatAnotherTaintEvictsIsEvictedAndShowsItsHold(t *testing.T) {
	p := newPolicyPlay(t, of("gpu", policy.Hold))
	p.taint("disk", 10)
	p.nodeChanged(0)
	if v := p.core.Views(at(0))[0]; v.Held.Name != "gpu" || v.Policy != "" || v.Method != policy.Delete || !v.Verdict.At.Equal(at(10)) {
		t.Errorf("got %+v", v)
	}
	p.wantCall(10, policy.Delete, "")
}

func TestAnAuditReportsEachDecisionOnceAndChangesNothing(t *testing.T) {
	audit := tolerating(of("gpu", policy.Evict), 20*time.Second)
	audit.Name, audit.Mode = "trial", policy.Audit
	p := newPolicyPlay(t, audit, of("gpu", policy.Delete))
	p.nodeChanged(1)
	if n := p.notes[0]; n.Policy != "trial" || n.Method != policy.Evict || !n.Verdict.At.Equal(at(20)) {
		t.Errorf("got the note %+v", n)
	}
	p.wantNotes(eviction.EvictionAudited)

	p.tolerate("a", bears("gpu", 25))
	p.podChanged(2, "a")
	p.wantNotes(eviction.EvictionAudited)
	p.wantCall(25, policy.Delete, "gpu")
	p.wantNotes()
}

func TestAnAuditReportsTheEarliestDecisionOfItsPolicy(t *testing.T) {
	forever := v1.Toleration{Key: "gpu", Operator: v1.TolerationOpExists}
	for _, c := range []struct {
		gpu, disk v1.Toleration
		key       string
		due       float64
	}{
		{bears("gpu", 4), bears("disk", 2), "disk", 2},
		{bears("gpu", 2), bears("disk", 4), "gpu", 2},
		{forever, bears("disk", 4), "disk", 4},
	} {
		for _, last := range []string{"gpu", "disk"} {
			audit := of("gpu", policy.Evict)
			audit.Match.Taints, audit.Mode = append(audit.Match.Taints, policy.Taint{Key: "disk"}), policy.Audit
			p := newPlay(t)
			p.judge = judgeOf(t, audit)
			p.add("a", c.gpu, c.disk)
			p.taint("gpu", 0)
			p.taint("disk", 0)
			p.taint(last, 0)
			p.nodeChanged(0)
			if n := p.notes[0]; n.Verdict.Taint.Key != c.key || !n.Verdict.At.Equal(at(c.due)) {
				t.Errorf("%+v, with %s as the last taint: got %+v", c, last, n)
			}
			p.wantNotes(eviction.EvictionAudited)
		}
	}
}

// Between the new judge and the next event of a node its evictions are judged by the new judge when they are due.
func TestAnEvictionThatIsDueIsJudgedByTheLatestPolicies(t *testing.T) {
	p := newPolicyPlay(t, of("gpu", policy.Delete))
	p.judge = judgeOf(t, of("gpu", policy.Ignore))
	p.wantNone(10)
	p.wantNotes(eviction.EvictionCancelled)
}
