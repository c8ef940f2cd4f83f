package evictionqueue

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"k8s.io/apimachinery/pkg/types"
)

func TestAnEntryTakesAtMost150Bytes(t *testing.T) {
	for _, n := range []int{100_000, 130_000} {
		for _, nodes := range []int{1, n / 100, n} {
			t.Run(fmt.Sprintf("%d on %d nodes", n, nodes), func(t *testing.T) {
				p := populate(n, nodes, scattered)
				if held := p.bytesPerEntry(); held > 150 {
					t.Fatalf("%.1f bytes an entry", held)
				}
			})
		}
	}
}

func TestMemoryIsGivenBackAfterABurst(t *testing.T) {
	const n, nodes = 100_000, 1000
	p := populate(n, nodes, scattered)
	ends := map[string]func(*Heap[*int]){
		"popped": func(h *Heap[*int]) {
			for h.Len() > 100 {
				h.PopDue(start.Add(time.Hour))
			}
		},
		"cancelled": func(h *Heap[*int]) {
			for _, e := range p[100:] {
				h.Cancel(e.UID)
			}
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			h := new(Heap[*int])
			before := liveBytes()
			p.fill(h)
			end(h)
			checkInvariants(t, h)
			// Two chunks, and what the most nodes at one time leave behind.
			if held := liveBytes() - before; held > 500_000 {
				t.Fatalf("%d bytes are held for %d entries", held, h.Len())
			}
			runtime.KeepAlive(h)
		})
	}
}

func TestAnEmptyHeapKeepsNoNodeQueues(t *testing.T) {
	h := new(Heap[*int])
	p := populate(5000, 5000, scattered)
	p.fill(h)
	for _, e := range p {
		h.Cancel(e.UID)
	}
	checkInvariants(t, h)
	if len(h.queues.chunks) > 2 || h.queues.n != rings {
		t.Fatalf("%d node queues in %d chunks are left", h.queues.n, len(h.queues.chunks))
	}
}

func TestWhatAnEntryPointedToIsLetGo(t *testing.T) {
	type big [1024]byte // small values share their memory with others
	h := new(Heap[*big])
	var gone []weak.Pointer[big]
	for i, uid := range []types.UID{"popped", "cancelled", "replaced"} {
		because := new(big)
		gone = append(gone, weak.Make(because))
		h.Set(Entry[*big]{UID: uid, Node: "n", At: start.Add(time.Duration(i)), Because: because})
	}
	h.PopDue(start)
	h.Cancel("cancelled")
	h.Set(Entry[*big]{UID: "replaced", Node: "n", At: start})
	runtime.GC()
	for i, p := range gone {
		if p.Value() != nil {
			t.Fatalf("what entry %d pointed to is still there", i)
		}
	}
	runtime.KeepAlive(h)
}
