package foresight_test

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

func TestThePaceOfARateAndOfTheLimitIsAnswered(t *testing.T) {
	const most, slow = "maxEvictionsPerSecond lets evictions start at 0.001/s", "rate slow lets evictions start at 0.001/s with a burst of 1"
	rate := rulesOf(policy.Config{Guards: policy.Guards{Rates: []policy.Rate{{
		Name: "slow", Taints: []policy.TaintKey{{Key: "gpu"}}, EvictionsPerSecond: 0.001, Burst: 1,
	}}}})
	limit, both := foresight.Ruleset{MaxEvictionsPerSecond: 0.001}, rate
	both.MaxEvictionsPerSecond = 0.001
	for name, test := range map[string]struct {
		by      foresight.Ruleset
		owner   string
		delayed int
		note    string // of explain
	}{
		"a rate":  {rate, "ReplicaSet/web", 1, slow},
		"a limit": {limit, "ReplicaSet/web", 1, most},
		"both":    {both, "ReplicaSet/web", 1, most + ", and " + slow},
		"neither": {foresight.Ruleset{}, "ReplicaSet/web", 0, ""},
		"pods that the DaemonSet controller deletes": {both, "DaemonSet/web", 0, ""},
	} {
		pods := []any{pod("a", ownedBy(test.owner)), pod("b", ownedBy(test.owner))}
		tainted := judgedBy(test.by, foresight.Focus{}, append(pods, node("n1", timed("gpu:NoExecute", -60)))...)
		if got, _, _ := strings.Cut(strings.Join(explained(tainted, noon).Notes, "\n"), ", so this one may wait for others that are due"); got != test.note {
			t.Errorf("%s: explain notes %q, want %q", name, got, test.note)
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

// explainedAmong explains the pod a, with what was added for the whole cluster.
func explainedAmong(by foresight.Ruleset, a *v1.Pod, others ...any) *foresight.Explanation {
	b := foresight.NewBuilder(by, foresight.Focus{})
	all := b.WholeCluster()
	b.Add(a)
	all.Add(a)
	for _, o := range others {
		if _, pod := o.(*v1.Pod); !pod {
			b.Add(o)
		}
		all.Add(o)
	}
	b.SetWholeCluster(all)
	return explained(must(b.Load(foresight.Reading{}, foresight.Moment{At: noon})), noon)
}

func TestAnExplanationSaysWhenThePodGoesAtTheEarliest(t *testing.T) {
	rate := func(burst int, keys ...string) policy.Guards {
		r := policy.Rate{Name: "slow", EvictionsPerSecond: 0.001, Burst: burst}
		for _, key := range keys {
			r.Taints = append(r.Taints, policy.TaintKey{Key: key})
		}
		return policy.Guards{Rates: []policy.Rate{r}}
	}
	one := rulesOf(policy.Config{Guards: rate(1, "gpu")})
	evicts := rulesOf(policy.Config{Guards: rate(1, "gpu"), Method: policy.Evict})
	urgent := func(p *v1.Pod) { p.Spec.Priority = new(int32(1)) }
	elsewhere := func(p *v1.Pod) { p.Namespace = "other" }
	away := func(p *v1.Pod) { p.Spec.NodeName = "n2" }
	gpu := func(name string) *v1.Node { return node(name, timed("gpu:NoExecute", -60)) }
	for name, test := range map[string]struct {
		by       foresight.Ruleset
		a        *v1.Pod
		others   []any
		starts   float64 // seconds after noon; 0: it may go now
		delayed  int     // evictions
		declined bool    // no limit delays any
	}{
		"alone":                        {by: one, a: pod("a"), others: []any{gpu("n1")}, declined: true},
		"the burst covers all":         {by: rulesOf(policy.Config{Guards: rate(2, "gpu")}), a: pod("a"), others: []any{gpu("n1"), pod("0")}, declined: true},
		"another taint's rate":         {by: rulesOf(policy.Config{Guards: rate(1, "disk")}), a: pod("a"), others: []any{gpu("n1"), pod("0")}, declined: true},
		"a taint without a rate":       {by: one, a: pod("a"), others: []any{node("n1", timed("gpu:NoExecute", -60), timed("disk:NoExecute", -60)), pod("0")}, declined: true},
		"after one":                    {by: one, a: pod("a"), others: []any{gpu("n1"), pod("0")}, starts: 1000, delayed: 1},
		"after one by a limit":         {by: foresight.Ruleset{MaxEvictionsPerSecond: 0.001}, a: pod("a"), others: []any{gpu("n1"), pod("0")}, starts: 1000, delayed: 1},
		"after two, with two behind":   {by: one, a: pod("a"), others: []any{gpu("n1"), pod("0"), pod("00"), pod("b"), pod("c")}, starts: 2000, delayed: 4},
		"before one":                   {by: one, a: pod("a"), others: []any{gpu("n1"), pod("b")}, delayed: 1},
		"after one of higher priority": {by: one, a: pod("a"), others: []any{gpu("n1"), pod("b", urgent)}, starts: 1000, delayed: 1},
		"before one, by its priority":  {by: one, a: pod("a", urgent), others: []any{gpu("n1"), pod("0")}, delayed: 1},
		"one of another namespace":     {by: one, a: pod("a"), others: []any{gpu("n1"), pod("0", elsewhere)}, delayed: 1},
		"one of another node":          {by: one, a: pod("a"), others: []any{gpu("n1"), gpu("n2"), pod("0", away)}, delayed: 1},
		"one with an earlier deadline": {by: one, a: pod("a", tolerates("gpu", 30)), others: []any{gpu("n1"), pod("b")}, starts: 1000, delayed: 1},
		"one that a budget may keep":   {by: evicts, a: pod("a"), others: []any{gpu("n1"), pod("0", labelled("app", "web")), budget("web", 1)}, delayed: 1},
		"one that no budget keeps":     {by: evicts, a: pod("a"), others: []any{gpu("n1"), pod("0"), budget("web", 1)}, starts: 1000, delayed: 1},
		"long after two":               {by: one, a: pod("a", tolerates("gpu", 5000)), others: []any{gpu("n1"), pod("0"), pod("00")}, delayed: 1},
		"one of a DaemonSet":           {by: one, a: pod("a"), others: []any{gpu("n1"), pod("0", ownedBy("DaemonSet/d"))}, declined: true},
		"it is of a DaemonSet":         {by: one, a: pod("a", ownedBy("DaemonSet/d")), others: []any{gpu("n1"), pod("0"), pod("1")}, declined: true},
	} {
		e := explainedAmong(test.by, test.a, test.others...)
		switch {
		case test.declined != (e.Pace == nil), e.Pace != nil && e.Pace.Delayed != test.delayed:
			t.Errorf("%s: %+v", name, e.Pace)
		case (test.starts == 0) != (e.StartsAt == nil), e.StartsAt != nil && !e.StartsAt.Equal(at(test.starts)):
			t.Errorf("%s: it starts at %v", name, e.StartsAt)
		case noted(e.Notes, "may wait for others"):
			t.Errorf("%s: %q", name, e.Notes)
		}
	}
}
