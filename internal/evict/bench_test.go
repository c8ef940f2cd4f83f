package evict

import (
	"testing"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// BenchmarkWhyUnconfirmed is what the confirmation costs once the node was read.
func BenchmarkWhyUnconfirmed(b *testing.B) {
	j := newJudged(noExecute("key"))
	j.live.Labels = map[string]string{"kubernetes.io/hostname": "n1"}
	e := &eviction.Request{Verdict: taint.Verdict{Taint: &j.live.Taints[0]}}
	b.ReportAllocs()
	for b.Loop() {
		if WhyUnconfirmed(policy.Judge{}, e, j.pod, j.node, j.live, "") != "" {
			b.Fatal("unconfirmed")
		}
	}
}
