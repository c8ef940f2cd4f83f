package managertest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/go-logr/logr"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
)

// first notes when it is called for the first time.
type first struct {
	once sync.Once
	at   chan time.Time
}

func (f *first) Evict(context.Context, taintmanager.Eviction) taintmanager.Outcome {
	f.once.Do(func() { f.at <- time.Now() })
	return taintmanager.Outcome{Kind: eviction.Accepted}
}

// BenchmarkTakeover measures the time from the lease to the first call of a warm standby, with 10,000 tainted nodes and
// 100,000 pods, of which ten are due, and the journal of the leader before.
func BenchmarkTakeover(b *testing.B) {
	client, made := fake.NewClientset(), metav1.NewTime(time.Now().Add(-time.Hour))
	for i := range 10_000 {
		name := fmt.Sprintf("node-%05d", i)
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: fmt.Sprint(i + 1), CreationTimestamp: made}}
		node.Spec.Taints = []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute}}
		if err := client.Tracker().Add(node); err != nil {
			b.Fatal(err)
		}
		for j := range 10 {
			pod := podOn(name, fmt.Sprintf("pod-%05d-%d", i, j), bears(3600))
			if pod.CreationTimestamp = made; i == 0 {
				pod.Spec.Tolerations = nil
			}
			if err := client.Tracker().Add(pod); err != nil {
				b.Fatal(err)
			}
		}
	}
	book := newNotebook()
	run := func(e taintmanager.Evictor) (*taintmanager.Manager, func()) {
		m, err := taintmanager.New(client, nil, taintmanager.Options{Evictor: e, Journal: book, Logger: logr.Discard()})
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		return m, func() { stop(); <-ended }
	}
	leader, stop := run(&first{at: make(chan time.Time, 1)})
	ctx, resign := context.WithCancel(b.Context())
	go func() { _ = leader.Lead(ctx) }()
	for book.records() < 10_000 {
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // until the first leader has written the journal, in real time
	}
	resign()
	stop()
	for b.Loop() {
		b.StopTimer()
		called := &first{at: make(chan time.Time, 1)}
		standby, stop := run(called)
		for !standby.HasSynced() || standby.Scheduled() < 99_990 {
			time.Sleep(100 * time.Millisecond) //nolint:forbidigo // until the standby is warm, in real time
		}
		ctx, resign := context.WithCancel(b.Context())
		b.StartTimer()
		began := time.Now()
		go func() { _ = standby.Lead(ctx) }()
		at := <-called.at
		b.StopTimer()
		b.ReportMetric(float64(at.Sub(began).Milliseconds()), "ms/takeover")
		if at.Sub(began) > time.Second {
			b.Errorf("the first call comes after %v", at.Sub(began))
		}
		resign()
		stop()
		b.StartTimer()
	}
}

// records returns how many nodes are recorded.
func (n *notebook) records() (records int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range len(n.stored) - 1 {
		records += max(len(n.stored[i].Data)-1, 0)
	}
	return records
}
