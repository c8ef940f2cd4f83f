package evict

import (
	"context"
	"testing"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// instant accepts at once.
type instant struct{}

func (instant) Evict(context.Context, eviction.Request) eviction.Outcome {
	return eviction.Outcome{Kind: eviction.Accepted}
}

// BenchmarkCall is what the pool costs for a call, from its permit to its outcome.
func BenchmarkCall(b *testing.B) {
	p := NewPool(PoolOptions{Evictor: instant{}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { _ = p.Lead(ctx); close(ended) }()
	e := someRequest()
	done := make(chan struct{})
	for b.Loop() {
		g := <-p.Permits()
		g.Take("maintenance", nil)
		g.Start(e, func(eviction.Outcome) { done <- struct{}{} })
		<-done
	}
	cancel()
	<-ended
}

// BenchmarkWhyUnconfirmed is what the confirmation costs once the node was read.
func BenchmarkWhyUnconfirmed(b *testing.B) {
	j := newJudged(noExecute("key"))
	j.live.Labels = map[string]string{"kubernetes.io/hostname": "n1"}
	e := &eviction.Request{}
	b.ReportAllocs()
	for b.Loop() {
		if WhyUnconfirmed(policy.Judge{}, e, j.pod, j.node, j.live, "") != "" {
			b.Fatal("unconfirmed")
		}
	}
}
