package cluster

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

func TestATriggerIsToleratedAsIfItsEffectWereNoExecuteOrElseAsItIs(t *testing.T) {
	trigger := v1.Taint{Key: "drain", Effect: v1.TaintEffectNoSchedule}
	tolerates := func(effect v1.TaintEffect, seconds *int64) []v1.Toleration {
		return []v1.Toleration{{Key: "drain", Operator: v1.TolerationOpExists, Effect: effect, TolerationSeconds: seconds}}
	}
	for name, test := range map[string]struct {
		tolerations []v1.Toleration
		forever     bool
	}{
		"nothing is tolerated":           {nil, false},
		"each effect":                    {tolerates("", nil), true},
		"NoSchedule":                     {tolerates(v1.TaintEffectNoSchedule, nil), true},
		"NoExecute":                      {tolerates(v1.TaintEffectNoExecute, nil), true},
		"NoExecute, for a minute":        {tolerates(v1.TaintEffectNoExecute, new(int64(60))), false},
		"NoSchedule; NoExecute, for one": {append(tolerates(v1.TaintEffectNoSchedule, nil), tolerates(v1.TaintEffectNoExecute, new(int64(60)))...), false},
	} {
		if got := toleratesForever(&taint.Pod{Tolerations: test.tolerations}, &trigger, taint.Rules{}); got != test.forever {
			t.Errorf("%s: tolerated forever: %t", name, got)
		}
	}
}
