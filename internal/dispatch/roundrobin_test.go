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
	node, _ := r.serveOne()
	return node
}

// serveOne serves the next candidate, and returns its node and the node whose turn begins soon.
func (r *roundRobin) serveOne() (node, soon string) {
	e := r.peek()
	soon = r.serve()
	r.remove(e)
	return e.Node, soon
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
	if want := "aabaacaaaaaabbbbbbbbb"; got != want {
		t.Errorf("the nodes' turns are %s, want %s", got, want)
	}
}

func TestANodeIsAnnouncedOnceWhileTheTurnBeforeRuns(t *testing.T) {
	const count, turnsOfEach = 20, 2
	nodes, served, announced := newRoundRobin(), map[string]int{}, map[string]int{}
	for i := range count {
		nodes.fill(fmt.Sprint("n", i), 1+turnsOfEach*perTurn)
	}
	announcements := 0
	for call := 1; !nodes.empty(); call++ {
		node, next := nodes.serveOne()
		begins := served[node]%perTurn == 1 && call > 2*count+perTurn // newcomers alternate with the first turn
		if at := announced[node]; begins && (at == 0 || call-at > 1+perTurn) {
			t.Errorf("call %d begins a turn of node %s, which was announced at call %d", call, node, at)
		}
		if served[node]++; next != "" {
			announcements++
			announced[next] = call
		}
	}
	if most := count + turnsOfEach*count; announcements > most { // as a newcomer, and before each turn
		t.Errorf("%d announcements, want at most %d", announcements, most)
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
