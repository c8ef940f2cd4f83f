package eviction

import (
	"fmt"
	"maps"
	"time"
)

// Place is a workload on a node with the key of a taint because of which its pods go.
type Place struct {
	Namespace string
	Workload  string // as its String method writes it; empty if there is none
	Node, Key string
}

// Rounds has how often pods went from each place. Pods that were there together went in one round.
type Rounds map[Place]round

type round struct {
	n     int
	began time.Time // the first eviction of the last round
}

// Add adds an eviction, which must not be earlier than those before, of a pod that was bound then.
func (r Rounds) Add(from Place, bound, at time.Time) {
	if last := r[from]; from.Workload != "" && bound.After(last.began) {
		r[from] = round{last.n + 1, at}
	}
}

// Repeated returns the places from which pods went in more than one round.
func (r Rounds) Repeated() Rounds {
	maps.DeleteFunc(r, func(_ Place, last round) bool { return last.n < 2 })
	return r
}

// Returned returns after how many rounds a pod has come back to the place that was bound then; 0 if after less than
// two.
func (r Rounds) Returned(to Place, bound time.Time) int {
	if last := r[to]; last.n >= 2 && bound.After(last.began) {
		return last.n
	}
	return 0
}

// ReturnedWords says that pods of a workload come back after so many evictions; "" for 0.
func ReturnedWords(workload string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("a pod of %s comes back to this node again and again: %d evictions within the last hour",
		workload, n)
}
