package policy_test

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestWhatAReloadMakesOfAPod(t *testing.T) {
	stays, held, evict, del, blocked := only(policy.Ignore, "a"), only(policy.Hold, "a"), only(policy.Evict, "a"), only(policy.Delete, "a"), only(policy.Evict, "a")
	blocked.DeleteAfter = secs(50)
	soon := blocked
	soon.DeleteAfter = secs(20)
	longer, longest := staying(policy.Tolerations{Absent: secs(100)}), staying(policy.Tolerations{Absent: secs(200)})
	for _, c := range []struct {
		name          string
		before, after policy.Policy
		want          policy.Change
	}{
		{"stays, is asked", stays, evict, policy.BecameDue},
		{"held, is asked", held, evict, policy.BecameDue},
		{"asked, is deleted", evict, del, policy.BecameDue},
		{"asked, and its time to be deleted has come", evict, soon, policy.BecameDue},
		{"asked, is to be deleted some time", evict, blocked, policy.BecameEarlier},
		{"asked, is not to be deleted any longer", blocked, evict, policy.BecameLater},
		{"deleted, is asked", del, evict, policy.BecameLater},
		{"due, goes later", del, longer, policy.BecameLater},
		{"goes even later", longer, longest, policy.BecameLater},
		{"goes earlier, not yet", longest, longer, policy.BecameEarlier},
		{"stays, goes one day", stays, longer, policy.BecameEarlier},
		{"held, goes one day", held, longer, policy.BecameEarlier},
		{"due, is held", del, held, policy.BecameHeld},
		{"stays, is held", stays, held, policy.BecameHeld},
		{"due, stays", del, stays, policy.BecameFree},
		{"held, stays", held, stays, policy.BecameFree},
		{"stays", stays, stays, policy.Unchanged},
		{"held", held, held, policy.Unchanged},
		{"due", del, del, policy.Unchanged},
		{"asked", blocked, blocked, policy.Unchanged},
	} {
		before, after := compiled(t, policies(c.before)), compiled(t, policies(c.after))
		pods := maps.All(map[*taint.Pod]*taint.Node{aPod(): nodeWith(on(10, "a", ""))})
		decide := func(s set) policy.Decider {
			return func(p *taint.Pod, n *taint.Node) policy.Verdict { return s.Decide(p, n, nil) }
		}
		got := policy.Compare(at(40), pods, decide(before), decide(after))
		want := map[policy.Change]policy.Diff{
			policy.Unchanged: {Pods: 1}, policy.BecameDue: {Pods: 1, Due: 1}, policy.BecameEarlier: {Pods: 1, Earlier: 1},
			policy.BecameLater: {Pods: 1, Later: 1}, policy.BecameHeld: {Pods: 1, Held: 1}, policy.BecameFree: {Pods: 1, Free: 1},
		}[c.want]
		if got != want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
}

// The twin observes what is done with the pod, second by second.
func TestAChangeIsWhatTheSecondsShow(t *testing.T) {
	const end = 300
	checkTwins(t, func(rt *rapid.T, w *twin) {
		other := drawTwin(rt).config
		now := rapid.Int64Range(0, 100).Draw(rt, "now")
		before, after := compiled(t, w.config).Decide(w.pod, w.node, w.facts()), compiled(t, other).Decide(w.pod, w.node, w.facts())
		want := policy.Unchanged
		for second := int64(end); second >= now; second-- {
			was, is := doneAt(&before, second), doneAt(&after, second)
			switch {
			case is > was:
				want = policy.BecameEarlier
			case is < was:
				want = policy.BecameLater
			}
		}
		switch was, is := doneAt(&before, now), doneAt(&after, now); {
		case is > was:
			want = policy.BecameDue
		case !after.Goes() && after.Held.By != 0 && (before.Goes() || before.Held.By == 0):
			want = policy.BecameHeld
		case !after.Goes() && after.Held.By == 0 && (before.Goes() || before.Held.By != 0):
			want = policy.BecameFree
		}
		if got := before.ChangeTo(&after, at(now)); got != want {
			rt.Fatalf("at %d: got %d, want %d\n%+v\n%+v", now, got, want, before, after)
		}
	})
}

// doneAt returns 2 once the pod is deleted, 1 once an eviction is requested, and 0 before.
func doneAt(v *policy.Verdict, second int64) int {
	method, _ := v.Due(at(second))
	return map[policy.Method]int{"": 0, policy.Evict: 1, policy.Delete: 2}[method]
}
