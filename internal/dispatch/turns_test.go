package dispatch

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

func TestNewcomersAlternateWithRegularsWhichHaveEightInARow(t *testing.T) {
	turns := newTurns()
	add := func(node string, n int) {
		for i := range n {
			uid := types.UID(fmt.Sprint(node, i))
			turns.set(&item{Candidate: Candidate{Pod: &taint.Pod{UID: uid, Node: node}, Deadline: time.Unix(int64(i), 0)}})
		}
	}
	add("a", 10)
	add("b", 10)
	got := ""
	for !turns.empty() {
		if len(got) == 5 {
			add("c", 1)
		}
		got += turns.next().Node
	}
	if want := "aabaacaaaaabbbbbbbbab"; got != want {
		t.Errorf("the nodes' turns are %s, want %s", got, want)
	}
}

func TestANamespaceThatIsSlowAgainStillHasOneProbe(t *testing.T) {
	w := newWorld()
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	w.pod("a", 0, 1, 0, after(2*time.Second, succeeds)) // slow for two minutes after its end
	probe := w.pod("a", 0, 2, at(121.9), after(900*time.Millisecond, succeeds))
	w.pod("a", 0, 1, at(121.5), after(time.Minute, succeeds)) // slow from 122.5 s
	w.pod("b", 0, 1, at(122.2), quickly)                      // a step between
	w.pod("a", 0, 3, at(122.6), after(time.Minute, succeeds))
	w.run([]*evicted{probe}, at(122.7))
	if used := [2]int{w.core.used(slot), w.core.used(slowPlace)}; used != [2]int{1, 2} {
		t.Errorf("%d slots and %d slow places are taken, want 1 and 2", used[slot], used[slowPlace])
	}
}
