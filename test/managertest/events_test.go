package managertest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
)

// moments collects when events are stored, each after 5 ms, and when calls end.
type moments struct {
	mu            sync.Mutex
	stored, ended []time.Time
}

func (m *moments) Create(context.Context, *v1.Event) error {
	time.Sleep(5 * time.Millisecond)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stored = append(m.stored, time.Now())
	return nil
}

func (m *moments) call(_ taintmanager.Eviction, _ taintmanager.Outcome, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = append(m.ended, at)
}

func TestEventsWaitForABurstOfEvictionsAndAllAreStoredAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pods = 1000
		objects := []runtime.Object{taintedNode()}
		for i := range pods {
			objects = append(objects, podOn("node", fmt.Sprint("pod-", i)))
		}
		m := &moments{}
		start(t, fake.NewClientset(objects...), taintmanager.Options{
			Evictor: &recorder{lasts: 20 * time.Millisecond}, Events: m, Ended: m.call, Logger: logr.FromSlogHandler(slog.DiscardHandler),
		})
		time.Sleep(time.Minute)
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.ended) != pods || len(m.stored) != pods {
			t.Fatalf("%d calls, %d events, want %d", len(m.ended), len(m.stored), pods)
		}
		last, during := m.ended[pods-1], 0
		for _, at := range m.stored {
			if at.Before(last) {
				during++
			}
		}
		if after := m.stored[pods-1].Sub(last); during > pods/20 || after > 30*time.Second {
			t.Errorf("%d events were stored before the last call ended, want at most %d; the last one %v after it", during, pods/20, after)
		}
	})
}
