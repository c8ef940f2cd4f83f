package taintmanager

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// onePod is a cache with a pod on a node that has a taint since a moment.
type onePod struct{ since time.Time }

func (o onePod) Pod(types.UID) (*taint.Pod, *taint.Node) {
	node, pods := o.PodsOn("")
	return pods[0], node
}

func (o onePod) PodsOn(string) (*taint.Node, []*taint.Pod) {
	state := taint.State{Taint: v1.Taint{Key: "key", Effect: v1.TaintEffectNoExecute}, Since: o.since}
	return &taint.Node{Name: "n", Taints: []taint.History{{state}}},
		[]*taint.Pod{{UID: "a", Namespace: "ns", Name: "a", Node: "n", Phase: v1.PodRunning, Bound: o.since}}
}

// managing returns a manager of two shards, and what stops each. The pod of each shard is due, that of the second a
// second later; the dispatcher does not lead, so both stay due.
func managing(t *testing.T) (m *Manager, stop [2]context.CancelFunc) {
	began := time.Now()
	m = &Manager{dispatcher: dispatch.New(dispatch.Options{})}
	for i := range stop {
		s := shard.New(shard.Options{
			CoreOptions: shard.CoreOptions{
				Reader: onePod{began.Add(time.Duration(i) * time.Second)}, Dispatcher: m.dispatcher,
				Judge: func() policy.Judge { return policy.Judge{Facts: &policy.Facts{}} },
			},
			Notify: func(eviction.Note) {},
		})
		var ctx context.Context
		ctx, stop[i] = context.WithCancel(t.Context())
		m.shards = append(m.shards, s)
		s.Open()
		t.Cleanup(s.Close)
		go s.Run(ctx)
		s.NodeChanged("n")
	}
	time.Sleep(time.Minute) //nolint:forbidigo // in a bubble, whose time is virtual
	return m, stop
}

// waiting is the class of the pods of managing.
var waiting = shard.Class{State: eviction.StateDue, Waits: eviction.WaitsForTurn}

func TestAShardThatDoesNotAnswerCountsWithItsLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m, stop := managing(t)
		metrics := newMetrics(m)
		oldest := func() time.Time { return metrics.walk().Counts[waiting].Oldest }
		if got := oldest(); !got.Equal(began) {
			t.Fatalf("the oldest is of %v, want %v", got, began)
		}
		stop[0]()
		time.Sleep(time.Minute) //nolint:forbidigo // in a bubble, whose time is virtual
		asked := time.Now()
		if got := oldest(); !got.Equal(began) || time.Since(asked) > walkTimeout {
			t.Errorf("a shard is stuck: the oldest is of %v, want %v, after %v", got, began, time.Since(asked))
		}
		stop[1]()
	})
}

func TestAShardThatDoesNotAnswerKeepsNoOtherFromAnswering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m, stop := managing(t)
		stop[0]()
		time.Sleep(time.Minute) //nolint:forbidigo // in a bubble, whose time is virtual
		asked, pending := time.Now(), newMetrics(m).walk()
		if got, want := pending.Counts[waiting].Oldest, began.Add(time.Second); !got.Equal(want) || time.Since(asked) > walkTimeout {
			t.Errorf("the oldest is of %v, want %v, after %v", got, want, time.Since(asked))
		}
		stop[1]()
	})
}
