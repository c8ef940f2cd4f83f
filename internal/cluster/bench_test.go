package cluster

import (
	"fmt"
	"runtime"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/breaker"
)

// deaf is a handler that only counts calls.
type deaf struct{ calls int }

func (d *deaf) NodeChanged(string)                      { d.calls++ }
func (d *deaf) PodChanged(types.UID, string)            { d.calls++ }
func (d *deaf) NodesChanged([]breaker.NodeChange, bool) {}
func (d *deaf) RecordChanged(string)                    {}
func (d *deaf) NamespacesChanged()                      {}

func newBenchStores() (*stores, *deaf) {
	s, d := newStores(), &deaf{}
	s.handler(d)
	return s, d
}

// bigPod returns a pod of about 5 kB with its own strings, as it comes from a decoder. Pods of one Deployment have
// equal labels; those of a StatefulSet do not.
func bigPod(i int, stateful bool) *v1.Pod {
	fresh := fmt.Sprintf
	p := aPod(func(p *v1.Pod) {
		p.UID = typesUID("0b7c6a0e-5d1f-4c58-9a3e-%012d", i)
		p.Namespace, p.Name = fresh("team-%d", i%50), fresh("web-frontend-%d-7d9c6b5f4-%05d", i%300, i)
		p.Spec.NodeName = fresh("ip-10-0-%d-%d.eu-central-1.compute.internal", i%1000/250, i%250)
		p.Spec.TerminationGracePeriodSeconds = new(int64(30))
		p.Labels = map[string]string{fresh("app.kubernetes.io/name"): fresh("web-%d", i%300), fresh("pod-template-hash"): fresh("7d9c6b5f4")}
		p.Spec.Tolerations = []v1.Toleration{
			{Key: fresh(v1.TaintNodeNotReady), Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
			{Key: fresh(v1.TaintNodeUnreachable), Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
		}
		p.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: fresh("apps/v1"), Kind: fresh("ReplicaSet"), Name: fresh("web-frontend-%d-7d9c6b5f4", i%300),
			UID: typesUID("4c1d7a52-9a3e-4f58-8d1f-%012d", i%300), Controller: new(true),
		}}
		p.Status.Phase = v1.PodPhase(fresh("Running"))
		p.Annotations = map[string]string{"config": string(make([]byte, 3500))}
	})
	if stateful {
		p.Labels[fresh("statefulset.kubernetes.io/pod-name")] = fresh("web-%d", i)
	}
	return p
}

// BenchmarkBytesPerPod measures what 30,000 pods of 5 kB cost in the cache.
func BenchmarkBytesPerPod(b *testing.B) {
	const many = 30_000
	for name, stateful := range map[string]bool{"Deployments": false, "StatefulSets": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				s, _ := newBenchStores()
				must(b, s.podStore.Replace(trimmedPods(s, many, stateful), "1"))
				b.ReportMetric(float64(heap()-before)/many, "B/pod")
				runtime.KeepAlive(s)
			}
		})
	}
}

// trimmedPods returns pods as a streamed list delivers them.
func trimmedPods(s *stores, many int, stateful bool) []any {
	trim := s.podStore.Transformer()
	items := make([]any, many)
	for i := range items {
		items[i], _ = trim(bigPod(i, stateful))
	}
	return items
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
