package foresight_test

import (
	"fmt"
	"testing"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// BenchmarkPlan plans a taint for a node with many pods, without policies and with some.
func BenchmarkPlan(b *testing.B) {
	const pods = 10_000
	for name, c := range map[string]policy.Config{
		"plain":    {},
		"policies": {Policies: []policy.Policy{drains("drain"), drains("reboot"), lingers}},
	} {
		by, err := foresight.NewRuleset(c, false)
		if err != nil {
			b.Fatal(err)
		}
		objects := []any{node("n1", timed("disk:NoExecute", -300))}
		for i := range pods {
			objects = append(objects, pod(fmt.Sprint("web-", i), ownedBy("ReplicaSet/web"), tolerates("gpu", 300)))
		}
		m := judgedBy(by, foresight.Focus{}, objects...)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := m.Plan(ask("gpu:NoExecute"))
				if err != nil || len(p.Pods) != pods {
					b.Fatal(len(p.Pods), err)
				}
			}
		})
	}
}
