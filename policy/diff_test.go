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
		want          policy.Diff
	}{
		{"stays, is asked", stays, evict, policy.Diff{Pods: 1, Due: 1}},
		{"held, is asked", held, evict, policy.Diff{Pods: 1, Due: 1}},
		{"asked, is deleted", evict, del, policy.Diff{Pods: 1, Due: 1}},
		{"asked, and its time to be deleted has come", evict, soon, policy.Diff{Pods: 1, Due: 1}},
		{"asked, is to be deleted some time", evict, blocked, policy.Diff{Pods: 1, Earlier: 1}},
		{"asked, is not to be deleted any longer", blocked, evict, policy.Diff{Pods: 1, Later: 1}},
		{"deleted, is asked", del, evict, policy.Diff{Pods: 1, Later: 1}},
		{"due, goes later", del, longer, policy.Diff{Pods: 1, Later: 1}},
		{"goes even later", longer, longest, policy.Diff{Pods: 1, Later: 1}},
		{"goes earlier, not yet", longest, longer, policy.Diff{Pods: 1, Earlier: 1}},
		{"stays, goes one day", stays, longer, policy.Diff{Pods: 1, Earlier: 1}},
		{"held, goes one day", held, longer, policy.Diff{Pods: 1, Earlier: 1}},
		{"due, is held", del, held, policy.Diff{Pods: 1, Held: 1}},
		{"stays, is held", stays, held, policy.Diff{Pods: 1, Held: 1}},
		{"due, stays", del, stays, policy.Diff{Pods: 1, Free: 1}},
		{"held, stays", held, stays, policy.Diff{Pods: 1, Free: 1}},
		{"stays", stays, stays, policy.Diff{Pods: 1}},
		{"held", held, held, policy.Diff{Pods: 1}},
		{"due", del, del, policy.Diff{Pods: 1}},
		{"asked", blocked, blocked, policy.Diff{Pods: 1}},
	} {
		before, after := compiled(t, policies(c.before)), compiled(t, policies(c.after))
		pods := maps.All(map[*taint.Pod]*taint.Node{aPod(): nodeWith(on(10, "a", ""))})
		got := policy.Compare(at(40), pods, policy.Judge{Set: before.Set}.Decide, policy.Judge{Set: after.Set}.Decide)
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// The twin observes what is done with the pod, second by second.
func TestAChangeIsWhatTheSecondsShow(t *testing.T) {
	const end = 300
	checkTwins(t, func(rt *rapid.T, w *twin) {
		other := drawTwin(rt).config
		now := rapid.Int64Range(0, 100).Draw(rt, "now")
		was, is := policy.Judge{Set: compiled(t, w.config).Set, Facts: w.facts()}, policy.Judge{Set: compiled(t, other).Set, Facts: w.facts()}
		before, after := was.Decide(w.pod, w.node), is.Decide(w.pod, w.node)
		want := policy.Diff{Pods: 1}
		for second := int64(end); second >= now; second-- {
			was, is := doneAt(&before, second), doneAt(&after, second)
			switch {
			case is > was:
				want = policy.Diff{Pods: 1, Earlier: 1}
			case is < was:
				want = policy.Diff{Pods: 1, Later: 1}
			}
		}
		switch was, is := doneAt(&before, now), doneAt(&after, now); {
		case is > was:
			want = policy.Diff{Pods: 1, Due: 1}
		case !after.Evicts() && after.Held.By != 0 && (before.Evicts() || before.Held.By == 0):
			want = policy.Diff{Pods: 1, Held: 1}
		case !after.Evicts() && after.Held.By == 0 && (before.Evicts() || before.Held.By != 0):
			want = policy.Diff{Pods: 1, Free: 1}
		}
		pods := maps.All(map[*taint.Pod]*taint.Node{w.pod: w.node})
		if got := policy.Compare(at(now), pods, was.Decide, is.Decide); got != want {
			rt.Fatalf("at %d: got %+v, want %+v\n%+v\n%+v", now, got, want, before, after)
		}
	})
}

// doneAt returns 2 once the pod is deleted, 1 once an eviction is requested, and 0 before.
func doneAt(v *policy.Verdict, second int64) int {
	method, _ := v.Due(at(second))
	return map[policy.Method]int{"": 0, policy.Evict: 1, policy.Delete: 2}[method]
}
