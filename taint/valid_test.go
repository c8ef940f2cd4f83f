package taint_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/taint-manager/taint-manager/taint"
)

func TestWhatNoAPIServerStoresIsNamed(t *testing.T) {
	at, seconds := field.NewPath("t"), new(int64(30))
	for want, got := range map[string]field.ErrorList{
		`t[0].effect: Unsupported value: "noexecute"`:             taint.Validate([]v1.Taint{{Key: "m", Effect: "noexecute"}}, at),
		`t[0].key: Invalid value: ""`:                             taint.Validate([]v1.Taint{{Effect: v1.TaintEffectNoExecute}}, at),
		`t[0].value: Invalid value: "a b"`:                        taint.Validate([]v1.Taint{{Key: "m", Value: "a b", Effect: v1.TaintEffectNoSchedule}}, at),
		`t[2]: Duplicate value: "m": key and effect`:              taint.Validate([]v1.Taint{{Key: "m", Effect: v1.TaintEffectNoExecute}, {Key: "m", Effect: v1.TaintEffectNoSchedule}, {Key: "m", Value: "b", Effect: v1.TaintEffectNoExecute}}, at),
		`t.value: Invalid value: "0950"`:                          taint.ValidateToleration(&v1.Toleration{Key: "m", Operator: v1.TolerationOpGt, Value: "0950"}, at),
		`t.value: Invalid value: "9223372036854775808": must fit`: taint.ValidateToleration(&v1.Toleration{Key: "m", Operator: v1.TolerationOpLt, Value: "9223372036854775808"}, at),
		`t.value: Invalid value: "c d"`:                           taint.ValidateToleration(&v1.Toleration{Key: "m", Value: "c d"}, at),
		`t.value: Invalid value: "e f"`:                           taint.ValidateToleration(&v1.Toleration{Key: "m", Operator: v1.TolerationOpEqual, Value: "e f"}, at),
		`t.operator: Unsupported value: "exists"`:                 taint.ValidateToleration(&v1.Toleration{Key: "m", Operator: "exists"}, at),
		`t.operator: Invalid value: "Equal"`:                      taint.ValidateToleration(&v1.Toleration{Operator: v1.TolerationOpEqual}, at),
		`t.value: Invalid value: "x"`:                             taint.ValidateToleration(&v1.Toleration{Key: "m", Operator: v1.TolerationOpExists, Value: "x"}, at),
		`t.effect: Invalid value: ""`:                             taint.ValidateToleration(&v1.Toleration{Key: "m", TolerationSeconds: seconds}, at),
		`t.effect: Unsupported value: "All"`:                      taint.ValidateToleration(&v1.Toleration{Key: "m", Effect: "All"}, at),
		`t.key: Invalid value: "m/"`:                              taint.ValidateToleration(&v1.Toleration{Key: "m/"}, at),
	} {
		if len(got) == 0 || len(got[0].Error()) < len(want) || got[0].Error()[:len(want)] != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
	for _, fine := range []v1.Toleration{
		{Operator: v1.TolerationOpExists},
		{Key: "m"},
		{Key: "a.example/m", Value: "1", Effect: v1.TaintEffectNoSchedule},
		{Key: "m", Operator: v1.TolerationOpGt, Value: "5", Effect: v1.TaintEffectNoExecute, TolerationSeconds: seconds},
	} {
		if got := taint.ValidateToleration(&fine, at); len(got) > 0 {
			t.Errorf("%v: %v", fine, got)
		}
	}
}
