package device_test

import (
	"math"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/device"
)

// twin returns the deadline of the pod in seconds from zero, or [math.MaxInt64] if it stays. It follows the words of
// the package comment, object by object.
func twin(claims []*resourcev1.ResourceClaim, parts []*resourcev1.ResourceSlice, rules []*resourcev1.DeviceTaintRule, v device.Version) int64 {
	deadline := int64(math.MaxInt64)
	for _, c := range claims {
		for _, used := range c.Status.Allocation.Devices.Results {
			for _, t := range taintsOf(used, parts, rules) {
				fewest := int64(math.MaxInt64)
				forever := false
				for _, tolerates := range used.Tolerations {
					effect := tolerates.Effect == "NoExecute" || tolerates.Effect == "" && v >= 38000
					key := tolerates.Key == "" || tolerates.Key == t.Key
					value := tolerates.Operator == "Exists" || tolerates.Value == t.Value
					switch {
					case !effect || !key || !value:
					case tolerates.TolerationSeconds == nil:
						forever = true
					default:
						fewest = min(fewest, max(0, *tolerates.TolerationSeconds))
					}
				}
				if fewest == math.MaxInt64 {
					fewest = 0
				}
				if !forever {
					deadline = min(deadline, t.TimeAdded.Unix()-zero.Unix()+fewest)
				}
			}
		}
	}
	return deadline
}

func taintsOf(used resourcev1.DeviceRequestAllocationResult, parts []*resourcev1.ResourceSlice, rules []*resourcev1.DeviceTaintRule) (all []resourcev1.DeviceTaint) {
	newest := int64(0)
	for _, s := range parts {
		if s.Spec.Pool.Name == used.Pool {
			newest = max(newest, s.Spec.Pool.Generation)
		}
	}
	for _, s := range parts {
		for _, d := range s.Spec.Devices {
			if s.Spec.Pool.Name == used.Pool && s.Spec.Pool.Generation == newest && d.Name == used.Device {
				all = append(all, d.Taints...)
			}
		}
	}
	for _, r := range rules {
		if s := r.Spec.DeviceSelector; s != nil && (s.Pool == nil || *s.Pool == used.Pool) && (s.Device == nil || *s.Device == used.Device) {
			all = append(all, r.Spec.Taint)
		}
	}
	var evicting []resourcev1.DeviceTaint
	for _, t := range all {
		if t.Effect == "NoExecute" {
			evicting = append(evicting, t)
		}
	}
	return evicting
}

func TestTheDecisionAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var objects []any
		var claims []*resourcev1.ResourceClaim
		var parts []*resourcev1.ResourceSlice
		var rules []*resourcev1.DeviceTaintRule
		pools := rapid.SampledFrom([]string{"n", "m"})
		for i := range rapid.IntRange(0, 3).Draw(t, "claims") {
			devices := rapid.SliceOfN(rapid.SampledFrom([]string{"n/a", "n/b", "m/a", "m/b"}), 0, 3).Draw(t, "devices")
			tolerations := rapid.SliceOfN(rapid.Custom(drawToleration), 0, 4).Draw(t, "tolerations")
			claims = append(claims, claim(string(rune('c'+i)), devices, tolerations...))
			objects = append(objects, claims[i])
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "slices") {
			taints := rapid.SliceOfN(rapid.Custom(drawTaint), 0, 2).Draw(t, "taints")
			parts = append(parts, slice(string(rune('s'+i)), pools.Draw(t, "pool"), rapid.Int64Range(1, 2).Draw(t, "generation"), taints...))
			objects = append(objects, parts[i])
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "rules") {
			selector := selecting("", rapid.SampledFrom([]string{"", "n", "m"}).Draw(t, "pool"), rapid.SampledFrom([]string{"", "a"}).Draw(t, "device"))
			if rapid.IntRange(0, 4).Draw(t, "none") == 0 {
				selector = nil
			}
			rules = append(rules, rule(string(rune('r'+i)), selector, drawTaint(t)))
			objects = append(objects, rules[i])
		}
		v := rapid.SampledFrom([]device.Version{v36, v372, v38}).Draw(t, "version")
		got := int64(math.MaxInt64)
		if pairs := clusterOf(rapid.Permutation(objects).Draw(t, "order")...).Pairs("uid", v, zero); len(pairs) > 0 && pairs[0].Evict {
			got = pairs[0].At.Unix() - zero.Unix()
		}
		if want := twin(claims, parts, rules, v); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

func drawTaint(t *rapid.T) resourcev1.DeviceTaint {
	return taint(rapid.SampledFrom([]string{"a", "b", "a=1", "b=2"}).Draw(t, "taint")+
		rapid.SampledFrom([]string{":NoExecute", ":NoExecute", ":NoSchedule", ":None"}).Draw(t, "effect"), rapid.Int64Range(0, 50).Draw(t, "since"))
}

func drawToleration(t *rapid.T) resourcev1.DeviceToleration {
	made := tolerates(rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "key"), rapid.Int64Range(-1, 60).Draw(t, "seconds"))
	made.Effect = rapid.SampledFrom([]resourcev1.DeviceTaintEffect{"NoExecute", "NoExecute", "", "NoSchedule"}).Draw(t, "effect")
	if rapid.Bool().Draw(t, "equal") {
		made.Operator = rapid.SampledFrom([]resourcev1.DeviceTolerationOperator{"Equal", ""}).Draw(t, "operator")
		made.Value = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "value")
	}
	return made
}
