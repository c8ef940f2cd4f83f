package foresight_test

import (
	"strings"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

func TestThePaceOfARateAndOfTheLimitIsAnswered(t *testing.T) {
	rate := rulesOf(t, policy.Config{Guards: policy.Guards{Rates: []policy.Rate{{
		Name: "slow", Taints: []policy.TaintKey{{Key: "gpu"}}, EvictionsPerSecond: 0.001, Burst: 1,
	}}}})
	limit, both := foresight.Ruleset{MaxEvictionsPerSecond: 0.001}, rate
	both.MaxEvictionsPerSecond = 0.001
	for name, test := range map[string]struct {
		by             foresight.Ruleset
		owner          string
		delayed, notes int
	}{
		"a rate":  {rate, "ReplicaSet/web", 1, 1},
		"a limit": {limit, "ReplicaSet/web", 1, 1},
		"both":    {both, "ReplicaSet/web", 1, 1},
		"neither": {foresight.Ruleset{}, "ReplicaSet/web", 0, 0},
		"pods that the DaemonSet controller deletes": {both, "DaemonSet/web", 0, 0},
	} {
		pods := []any{pod("a", ownedBy(test.owner)), pod("b", ownedBy(test.owner))}
		tainted := judgedBy(test.by, foresight.Focus{}, append(pods, node("n1", timed("gpu:NoExecute", -60)))...)
		if got := strings.Count(strings.Join(explained(tainted, noon).Notes, "\n"), "so this one may wait for others that are due"); got != test.notes {
			t.Errorf("%s: explain has %d notes, want %d", name, got, test.notes)
		}
		q := ask("gpu:NoExecute")
		q.Compare, q.Compared = &test.by, name
		p, err := judgedBy(foresight.Ruleset{}, foresight.Focus{}, append(pods, node("n1"))...).Plan(q)
		if err != nil || p.Pace != nil {
			t.Fatalf("%s: %+v, %v", name, p.Pace, err)
		}
		for answer, pace := range map[string]*foresight.Pace{"pending": tainted.Pending(noon, nil).Pace, "compared": p.ComparedPace} {
			switch {
			case test.delayed == 0 && pace == nil:
			case pace == nil || pace.Delayed != test.delayed || pace.Evictions != 2 || !pace.Last.Equal(noon.Add(1000*time.Second)):
				t.Errorf("%s, %s: %+v", name, answer, pace)
			}
		}
	}
}
