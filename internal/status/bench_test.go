package status

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
)

// tainted returns a cluster of 100 tainted nodes and so many pods that bear the taint for an hour.
func tainted(pods int) (objects []runtime.Object) {
	for i := range 100 {
		objects = append(objects, &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), UID: types.UID(fmt.Sprint("n", i))},
			Spec:       v1.NodeSpec{Taints: []v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoExecute}}},
		})
	}
	hour := int64(3600)
	for i := range pods {
		objects = append(objects, &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("p", i), UID: types.UID(fmt.Sprintf("d6ccb8d4-0000-4000-8000-%012d", i)), ResourceVersion: "1"},
			Spec: v1.PodSpec{NodeName: fmt.Sprint("n", i%100), Tolerations: []v1.Toleration{
				{Key: "gpu", Operator: v1.TolerationOpExists, TolerationSeconds: &hour},
			}},
		})
	}
	return objects
}

// BenchmarkOneSecondOfAViewer is what the controller does in a second for a viewer, while 10,000 evictions of a real
// manager are scheduled, and 20 of them change and 20 end each second.
func BenchmarkOneSecondOfAViewer(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	m, err := taintmanager.New(fake.NewClientset(tainted(10_000)...), nil, taintmanager.Options{})
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	if err := wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) { return m.Scheduled() >= 10_000, nil }); err != nil {
		b.Fatal(err)
	}
	var history History
	sampler := newSampler(Options{Source: m, History: &history, Manager: func() Manager { return Manager{Synced: m.HasSynced()} }})
	begin := cpu(b)
	for b.Loop() {
		next, err := sampler.sample(ctx)
		if err != nil {
			b.Fatal(err)
		}
		for i := range 20 {
			v := next.views[i*400]
			v.Attempts++
			history.Ended(eviction.Request{Pod: v.Pod, Verdict: v.Verdict}, eviction.Outcome{Kind: eviction.Accepted}, time.Now())
		}
		tag := ""
		if sampler.last != nil {
			tag = sampler.last.head.Tag
		}
		sampler.compare(next)
		if d := sampler.difference(tag); d != nil {
			if len(d.views) > 40 {
				b.Fatalf("%d evictions have changed", len(d.views))
			}
			if text, err := json.Marshal(converted(d.views, evictionOf)); err != nil || len(text) == 0 {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric((cpu(b)-begin).Seconds()/float64(b.N)*100, "%core")
	cancel()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

// cpu returns how much CPU time this process has used, its garbage collector's included.
func cpu(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
