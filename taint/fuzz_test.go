package taint_test

import (
	"math"
	"testing"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// FuzzDecide decides about one taint with two tolerations, with any strings and numbers, and compares the verdict with
// that of Kubernetes' own matching and plain arithmetic.
func FuzzDecide(f *testing.F) {
	f.Add("gpu", "a", int64(10), "gpu", "Equal", "a", "NoExecute", int64(5), true, "", "Exists", "", "", int64(0), false, int64(0))
	f.Add("load", "7", int64(10), "load", "Gt", "5", "", int64(-1), true, "load", "Lt", "9", "NoSchedule", int64(math.MaxInt64), true, int64(20))
	f.Add("gpu", "", int64(10), "gpu", "Exists", "", "", int64(252_000_000_000), true, "", "", "", "", int64(0), false, int64(0)) // past the year 9999
	f.Add("gpu", "", int64(10), "", "Exists", "", "", int64(18446744074), true, "", "", "", "", int64(0), false, int64(0))        // past what a time.Duration holds
	f.Fuzz(func(t *testing.T, key, value string, since int64,
		key1, operator1, value1, effect1 string, seconds1 int64, limited1 bool,
		key2, operator2, value2, effect2 string, seconds2 int64, limited2 bool, bound int64,
	) {
		tolerations := []v1.Toleration{
			someToleration(key1, operator1, value1, effect1, seconds1, limited1),
			someToleration(key2, operator2, value2, effect2, seconds2, limited2),
		}
		since, bound = since%1e12, bound%1e12
		p := boundAt(bound, pod(tolerations...))
		n := node(on(since, key, value))
		v := taint.Decide(p, n, taint.Rules{})
		if v.String() == "" || v.Because() == "" {
			t.Error("the verdict says nothing")
		}
		want, goes := expected(&n.Taints[0][0].Taint, tolerations, at(max(since, bound)))
		if v.Evict != goes || goes && !v.At.Equal(want) {
			t.Errorf("got %v, want an eviction: %v, at %v", v, goes, want)
		}
	})
}

func someToleration(key, operator, value, effect string, secs int64, limited bool) v1.Toleration {
	t := v1.Toleration{Key: key, Operator: v1.TolerationOperator(operator), Value: value, Effect: v1.TaintEffect(effect)}
	if limited {
		t.TolerationSeconds = &secs
	}
	return t
}

// expected returns the deadline by the first toleration that matches; false if the pod stays.
func expected(on *v1.Taint, tolerations []v1.Toleration, start time.Time) (time.Time, bool) {
	for i := range tolerations {
		if !tolerations[i].ToleratesTaint(logr.Discard(), on, true) {
			continue
		}
		granted := tolerations[i].TolerationSeconds
		if granted == nil {
			return time.Time{}, false
		}
		end := float64(start.Unix()) + float64(max(*granted, 0))
		lastSecond := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
		if end > float64(lastSecond) {
			return time.Time{}, false
		}
		return time.Unix(start.Unix()+max(*granted, 0), 0), true
	}
	return start, true
}
