package eviction

import (
	"fmt"
	"maps"
	"time"
)

// Origin is a workload on a node, with the key of a taint that evicts its pods from there.
type Origin struct {
	Namespace string
	Workload  string // as taint.Owner.String writes it; empty if there is none
	Node, Key string
}

// Rounds counts the rounds of evictions from each origin. Pods that were there at the same time go in one round.
type Rounds map[Origin]round

type round struct {
	n     int
	began time.Time // the first eviction of the last round
}

// Add counts an eviction from an origin. Its pod was bound at the time bound; its time, at, must be the latest so far.
func (r Rounds) Add(from Origin, bound, at time.Time) {
	if last := r[from]; from.Workload != "" && bound.After(last.began) {
		r[from] = round{last.n + 1, at}
	}
}

// Repeated drops the origins with fewer than two rounds, and returns the rest.
func (r Rounds) Repeated() Rounds {
	maps.DeleteFunc(r, func(_ Origin, last round) bool { return last.n < 2 })
	return r
}

// Returned returns the number of rounds if the last one began before the time bound, at which a pod was bound at the
// origin. It returns 0 otherwise, and if there were fewer than two rounds.
func (r Rounds) Returned(to Origin, bound time.Time) int {
	if last := r[to]; last.n >= 2 && bound.After(last.began) {
		return last.n
	}
	return 0
}

// ReturnedWords says that pods of a workload came back after n evictions; it returns "" for 0.
func ReturnedWords(workload string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("a pod of %s comes back to this node again and again: %d evictions within the last hour",
		workload, n)
}
