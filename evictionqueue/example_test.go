package evictionqueue_test

import (
	"fmt"
	"time"

	"github.com/taint-manager/taint-manager/evictionqueue"
)

func ExampleHeap() {
	type cause struct{ taint string }
	notReady := &cause{"not-ready"}
	noon := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

	var h evictionqueue.Heap[*cause]
	h.Set(evictionqueue.Entry[*cause]{UID: "web-1", Node: "a", At: noon, Because: notReady})
	h.Set(evictionqueue.Entry[*cause]{UID: "web-2", Node: "a", At: noon, Because: notReady})
	h.Set(evictionqueue.Entry[*cause]{UID: "db-1", Node: "b", At: noon, Because: notReady})
	h.Set(evictionqueue.Entry[*cause]{UID: "db-2", Node: "b", At: noon, Because: notReady})

	h.Cancel("web-2")                                                                                            // tolerates the taint now
	h.Set(evictionqueue.Entry[*cause]{UID: "db-2", Node: "b", At: noon.Add(5 * time.Minute), Because: notReady}) // for longer

	for e, ok := h.PopDue(noon); ok; e, ok = h.PopDue(noon) {
		fmt.Println(e.UID, "leaves", e.Node, "because of", e.Because.taint)
	}
	next, _ := h.Next()
	fmt.Println("next at", next.Format(time.TimeOnly))
	// Output:
	// db-1 leaves b because of not-ready
	// web-1 leaves a because of not-ready
	// next at 12:05:00
}

func ExampleQueue() {
	q := evictionqueue.New[string]()
	defer q.Stop()
	q.Set(evictionqueue.Entry[string]{UID: "web-1", Node: "a", At: time.Now(), Because: "tainted"})
	q.Set(evictionqueue.Entry[string]{UID: "db-1", Node: "b", At: time.Now().Add(time.Millisecond), Because: "tainted too"})
	for q.Len() > 0 {
		now := time.Now()
		for q.Due(now) {
			e, _ := q.PopDue(now)
			fmt.Println(e.UID, e.Because)
		}
		q.Arm(now)
		if q.Len() > 0 {
			<-q.C()
		}
	}
	// Output:
	// web-1 tainted
	// db-1 tainted too
}
