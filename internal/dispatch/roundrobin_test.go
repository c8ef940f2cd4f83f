package dispatch

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// fill adds n candidates of a node.
func (r *roundRobin) fill(node string, n int) {
	for i := range n {
		uid := types.UID(fmt.Sprint(node, i))
		r.set(&entry{Candidate: Candidate{Pod: &taint.Pod{UID: uid, Node: node}, Deadline: time.Unix(int64(i), 0)}})
	}
}

// next serves the next candidate, and returns its node.
func (r *roundRobin) next() string {
	e := r.peek()
	r.serve()
	r.remove(e)
	return e.Node
}

func TestANewNodeWaitsForAtMostOneCandidateOfAnother(t *testing.T) {
	nodes, got := newRoundRobin(), ""
	nodes.fill("a", 10)
	nodes.fill("b", 10)
	for range 5 {
		got += nodes.next()
	}
	nodes.fill("c", 1)
	for !nodes.empty() {
		got += nodes.next()
	}
	if want := "aababcabababababababb"; got != want {
		t.Errorf("the nodes' turns are %s, want %s", got, want)
	}
}

func TestTheTurnsOfAFewNodesOverlap(t *testing.T) {
	nodes, served, turns := newRoundRobin(), map[string]int{}, map[string]int{}
	for i := range 20 {
		nodes.fill(fmt.Sprint("n", i), 1+2*perTurn)
	}
	for range 2 * 20 { // newcomers alternate with regulars
		served[nodes.next()]++
	}
	for !nodes.empty() {
		node := nodes.next()
		if served[node]++; (served[node]-1)%perTurn != 0 {
			turns[node] = served[node]
		} else {
			delete(turns, node)
		}
		if len(turns) > sideBySide {
			t.Fatalf("%d nodes have begun a turn and not ended it, want at most %d: %v", len(turns), sideBySide, turns)
		}
	}
}

func TestOfANodesCandidatesTheEarliestGoesFirstThenThatOfTheHighestPriorityThenTheLeastUID(t *testing.T) {
	nodes, got := newRoundRobin(), ""
	for _, c := range []struct {
		uid      types.UID
		deadline int64
		priority int32
	}{{"e", 1, 0}, {"d", 1, 0}, {"c", 1, 5}, {"b", 1, 1000}, {"f", 1, -5}, {"a", 0, -5}} {
		nodes.set(&entry{Candidate: Candidate{Pod: &taint.Pod{UID: c.uid, Priority: c.priority}, Deadline: time.Unix(c.deadline, 0)}})
	}
	for !nodes.empty() {
		e := nodes.peek()
		nodes.serve()
		nodes.remove(e)
		got += string(e.UID)
	}
	if got != "abcdef" {
		t.Errorf("the turns are %s, want abcdef", got)
	}
}
