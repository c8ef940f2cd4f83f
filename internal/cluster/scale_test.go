package cluster

import (
	"runtime"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A cluster of 100,000 nodes and a million pods, as docs/lab/scale.md calculates with.
const (
	scaleNodes = 100_000
	scalePods  = 1_000_000
)

// BenchmarkBytesPerNode measures what a node costs in the cache, without and with a taint.
func BenchmarkBytesPerNode(b *testing.B) {
	for name, taints := range map[string][]v1.Taint{"bare": nil, "tainted": {{Key: v1.TaintNodeUnreachable, Effect: v1.TaintEffectNoExecute}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				s, _ := newBenchStores()
				must(b, s.nodeStore.Replace(trimmedNodes(s, scaleNodes, taints), "1"))
				b.ReportMetric(float64(heap()-before)/scaleNodes, "B/node")
				runtime.KeepAlive(s)
			}
		})
	}
}

func trimmedNodes(s *stores, many int, taints []v1.Taint) []any {
	trim := s.nodeStore.Transformer()
	items := make([]any, many)
	for i := range items {
		items[i], _ = trim(&v1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name: string(typesUID("ip-10-%03d-%03d.eu-central-1.compute.internal", i/1000, i%1000)), UID: typesUID("7f0e6a0e-5d1f-4c58-9a3e-%012d", i),
				ResourceVersion: string(typesUID("%d", 81234567+i)), CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
			},
			Spec: v1.NodeSpec{Taints: taints},
		})
	}
	return items
}

// BenchmarkAMillionPods measures a list of a million pods from the objects to the cache, and the size of the cache.
func BenchmarkAMillionPods(b *testing.B) {
	for b.Loop() {
		before := heap()
		s, _ := newBenchStores()
		trim := s.podStore.Transformer()
		items := make([]any, scalePods)
		for i := range items {
			items[i], _ = trim(bigPod(i, false))
		}
		took := time.Now()
		must(b, s.podStore.Replace(items, "1"))
		b.ReportMetric(time.Since(took).Seconds(), "s/replace")
		clear(items)
		b.ReportMetric(float64(heap()-before)/scalePods, "B/pod")
		runtime.KeepAlive(s)
	}
}
