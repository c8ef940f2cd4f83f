package dispatch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

func TestNewcomersAlternateWithRegularsOfWhichManyAreServedInARow(t *testing.T) {
	nodes := newRoundRobin()
	add := func(node string, n int) {
		for i := range n {
			uid := types.UID(fmt.Sprint(node, i))
			nodes.set(&entry{Candidate: Candidate{Pod: &taint.Pod{UID: uid, Node: node}, Deadline: time.Unix(int64(i), 0)}})
		}
	}
	add("a", inARow+8)
	add("b", inARow+8)
	got := ""
	for !nodes.empty() {
		if len(got) == 5 {
			add("c", 1)
		}
		e := nodes.peek()
		nodes.serve()
		nodes.remove(e)
		got += e.Node
	}
	want := "aabaac" + strings.Repeat("a", inARow-3) + strings.Repeat("b", inARow) + strings.Repeat("a", 7) + strings.Repeat("b", 7)
	if got != want {
		t.Errorf("the nodes' turns are %s, want %s", got, want)
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
