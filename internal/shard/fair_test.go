package shard_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/taint"
)

// bind binds pods of a namespace to twenty nodes. They are due at that second.
func (r *real) bind(namespace string, pods int, second float64) (uids []types.UID) {
	for i := range pods {
		uid := types.UID(fmt.Sprint(namespace, "-", i))
		r.add(uid)
		r.change(uid, func(p *taint.Pod) { p.Namespace, p.Node, p.Bound = namespace, nodeName(i), at(second) })
		uids = append(uids, uid)
	}
	return uids
}

func nodeName(i int) string { return fmt.Sprint("node", i%20) }

// hanging makes the calls for pods of the namespace "others" take some milliseconds. All other calls take 30 s, and fail.
// It returns the waits of pods after that second, in order.
func (r *real) hanging() (waits func(uids []types.UID, second float64) []float64) {
	var mu sync.Mutex
	random, gone := rand.New(rand.NewPCG(1, 1)), map[types.UID]time.Time{}
	r.answer = func(e eviction.Request) eviction.Outcome {
		if e.Pod.Namespace != "others" {
			time.Sleep(30 * time.Second)
			return eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseServer, NothingDeleted: true}
		}
		mu.Lock()
		takes := 7*time.Millisecond + time.Duration(random.IntN(23))*time.Millisecond
		mu.Unlock()
		time.Sleep(takes)
		r.remove(e.Pod.UID)
		mu.Lock()
		defer mu.Unlock()
		gone[e.Pod.UID] = time.Now()
		return accepted
	}
	return func(uids []types.UID, second float64) (all []float64) {
		mu.Lock()
		defer mu.Unlock()
		for _, uid := range uids {
			wait := 9999.
			if at, ok := gone[uid]; ok {
				wait = at.Sub(zero).Seconds() - second
			}
			all = append(all, wait)
		}
		slices.Sort(all)
		return all
	}
}

// The figures are those of the simulation that the rules were chosen by; shards and timers may add 0.3 s.
func TestNamespacesWhoseCallsHangDelayTheEvictionsOfOthersByASecondOrTwo(t *testing.T) {
	for _, row := range []struct {
		namespaces      int
		gap, later      float64 // between the namespaces, and until the others are due
		median, longest float64
	}{
		{0, 0, 0, .07, .13},
		{1, 0, 0, .13, .24},
		{1, 0, .5, .59, .67},
		{1, 0, 5, .12, .24},
		{1, 0, 120, .12, .24},
		{8, 0, 0, .63, 1.11},
		{8, 0, .5, .78, 1.03},
		{8, 0, 5, .32, .62},
		{8, 0, 120, .32, .62},
		{40, 0, 0, 2.5, 3.3},
		{40, 0, .5, 2, 2.8},
		{40, 0, 5, 1, 1.9},
		{40, 0, 120, 1, 1.9},
		{3, 1.2, .5, .19, .37},
		{3, 2, .5, .19, .37},
		{3, 5, .5, .19, .37},
		{6, 1.2, .5, .63, 1.2},
		{6, 2, .5, .63, 1.2},
		{6, 5, .5, .63, 1.2},
		{8, 1.2, .5, 1.9, 3.6},
		{8, 2, .5, 1.9, 3.6},
		{12, .5, .5, 25, 27}, // once, up to the timeout of the webhooks
		{12, 1.2, .5, 25, 27},
		{12, 2, .5, 25, 27},
	} {
		name := fmt.Sprintf("%d namespaces %v s apart, the others %v s later", row.namespaces, row.gap, row.later)
		inBubble(t, name, func(t *testing.T) {
			r := running(t, dispatch.CoreOptions{})
			waits := r.hanging()
			for i := range row.namespaces {
				r.bind(fmt.Sprint("hostile", i), 1000, 1+row.gap*float64(i))
			}
			due := 1 + row.gap*float64(max(row.namespaces, 1)-1) + row.later
			others := r.bind("others", 200, due)
			for i := range 20 {
				r.taintNode(nodeName(i), "down", zero)
				r.NodeChanged(nodeName(i))
			}
			r.sleep(due + 40)
			all := waits(others, due)
			median, longest := all[len(all)/2], all[len(all)-1]
			t.Logf("median %.2f s, longest %.2f s", median, longest)
			if median > row.median+.3 || longest > row.longest+.3 {
				t.Errorf("they wait for %.2f s, at most %.2f s, want %v and %v", median, longest, row.median, row.longest)
			}
		})
	}
}
