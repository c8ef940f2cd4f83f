package foresight_test

import (
	"math"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/foresight"
)

// The twin predicts as simply as possible, for a pod whose tolerations have the operator Exists and a key, a limit,
// or both: each taint that is on the node in the end is tolerated from its start.

// twin returns the earliest and the latest deadline of the pod, in seconds from noon; NaN if it stays.
func twin(p *v1.Pod, before []v1.Taint, changes []foresight.Change) (earliest, latest float64) {
	const nodeMade, bound = -10 * 3600, -9*3600 + 1
	earliest, latest = math.NaN(), math.NaN()
	early := math.NaN() // the deadline if the time of binding were known exactly
	sooner := func(a *float64, b float64) {
		if !(*a <= b) {
			*a = b
		}
	}
	judge := func(t v1.Taint, from, to float64) {
		seconds, forever := int64(0), false
		for _, toleration := range p.Spec.Tolerations {
			if toleration.Key == "" || toleration.Key == t.Key {
				forever = toleration.TolerationSeconds == nil
				if !forever {
					seconds = max(0, *toleration.TolerationSeconds)
				}
				break
			}
		}
		if t.Effect == v1.TaintEffectNoExecute && !forever {
			sooner(&early, max(from, bound)+float64(seconds))
			sooner(&earliest, max(from, bound-1)+float64(seconds))
			sooner(&latest, max(to, bound)+float64(seconds))
		}
	}
	for _, t := range before {
		kept, value := true, t.Value
		for _, c := range changes {
			if c.Taint.Key == t.Key && (c.Taint.Effect == t.Effect || c.Taint.Effect == "") {
				kept, value = !c.Remove, c.Taint.Value
			}
		}
		t.Value = value
		switch {
		case !kept:
		case t.TimeAdded == nil:
			judge(t, nodeMade, 0)
		default:
			added := t.TimeAdded.Sub(noon).Seconds() + 1
			judge(t, added, added)
		}
	}
	for _, c := range changes {
		there := false
		for _, t := range before {
			there = there || t.Key == c.Taint.Key && t.Effect == c.Taint.Effect
		}
		if !c.Remove && !there {
			judge(c.Taint, 0, 0)
		}
	}
	if early == latest {
		earliest = latest
	}
	return earliest, latest
}

func TestAPlanAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := node("n1", rapid.SliceOfNDistinct(rapid.Custom(drawTaint), 0, 4, identity).Draw(t, "taints")...)
		p := pod("a")
		for range rapid.IntRange(0, 4).Draw(t, "tolerations") {
			tolerates(rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "key"), rapid.Int64Range(-1, 100).Draw(t, "seconds"))(p)
		}
		q := ask()
		for _, change := range rapid.SliceOfNDistinct(rapid.Custom(drawTaint), 1, 3, identity).Draw(t, "changes") {
			change.TimeAdded = nil
			q.Changes = append(q.Changes, foresight.Change{Taint: change, Remove: rapid.Bool().Draw(t, "remove")})
		}
		made, err := planned(q, n, p)
		if err != nil {
			t.Skip("nothing to be removed")
		}
		earliest, latest := twin(p, n.Spec.Taints, q.Changes)
		prediction := made.Pods[0].Prediction
		if prediction.Evict != !math.IsNaN(latest) {
			t.Fatalf("got %s, want %v to %v", told(&prediction), earliest, latest)
		}
		if !prediction.Evict {
			return
		}
		first := prediction.At
		if prediction.Earliest != nil {
			first = prediction.Earliest
		}
		if prediction.At.Sub(noon).Seconds() != latest || first.Sub(noon).Seconds() != earliest {
			t.Fatalf("got %s, want %v to %v", told(&prediction), earliest, latest)
		}
	})
}

func drawTaint(t *rapid.T) v1.Taint {
	drawn := v1.Taint{
		Key:    rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"),
		Value:  rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "value"),
		Effect: rapid.SampledFrom([]v1.TaintEffect{"NoExecute", "NoExecute", "NoSchedule"}).Draw(t, "effect"),
	}
	if rapid.Bool().Draw(t, "timed") {
		return timed(drawn.ToString(), float64(-rapid.IntRange(1, int(9*time.Hour/time.Second)).Draw(t, "added")))
	}
	return drawn
}

func identity(t v1.Taint) string { return t.Key + string(t.Effect) }
