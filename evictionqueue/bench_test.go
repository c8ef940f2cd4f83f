package evictionqueue

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const million = 1_000_000

// shapes are the ways in which entries are spread over nodes.
var shapes = []struct {
	name  string
	nodes int // 0: as many as entries
}{
	{"10000nodes", 10_000},
	{"1node", 1},
	{"1pernode", 0},
}

var start = time.Now()

// population is what a benchmark fills its heap with: made beforehand, in random order, so that
// neither the making nor the strings' own memory is measured.
type population []Entry[*int]

func populate(n, nodes int, at func() time.Time) population {
	if nodes == 0 {
		nodes = n
	}
	names := make([]string, nodes)
	for i := range names {
		names[i] = "node-" + strconv.Itoa(i)
	}
	entries := make(population, n)
	for i := range entries {
		entries[i] = Entry[*int]{UID: uid(), Node: names[i%nodes], At: at(), Because: new(int)}
	}
	rand.Shuffle(n, func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	return entries
}

// uid returns random, as those of the API server are.
func uid() types.UID {
	a, b := rand.Uint64(), rand.Uint64()
	return types.UID(fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&0xffffffffffff))
}

func scattered() time.Time { return start.Add(rand.N(time.Hour)) }

func oneInstant() time.Time { return start }

func (p population) fill(h *Heap[*int]) {
	for _, e := range p {
		h.Set(e)
	}
}

// bytesPerEntry returns what a heap of the population takes for each, without the strings and what
// Because points to.
func (p population) bytesPerEntry() float64 {
	before := liveBytes()
	h := new(Heap[*int])
	p.fill(h)
	held := liveBytes() - before
	runtime.KeepAlive(h)
	return float64(held) / float64(len(p))
}

func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// each runs the benchmark for all shapes, with deadlines scattered and all the same.
func each(b *testing.B, bench func(b *testing.B, p population)) {
	for _, shape := range shapes {
		b.Run(shape.name+"/scattered", func(b *testing.B) { bench(b, populate(million, shape.nodes, scattered)) })
		b.Run(shape.name+"/oneinstant", func(b *testing.B) { bench(b, populate(million, shape.nodes, oneInstant)) })
	}
}

// BenchmarkMapYardstick deletes one of a million keys from a Go map and inserts it again: what
// memory of this machine costs at the least.
func BenchmarkMapYardstick(b *testing.B) {
	p := populate(million, 1, oneInstant)
	m := make(map[types.UID]int32)
	for i := range p {
		m[p[i].UID] = int32(i)
	}
	for i := 0; b.Loop(); i++ {
		e := &p[i*7919%million]
		delete(m, e.UID)
		m[e.UID] = int32(i)
	}
}

// BenchmarkSet adds to a heap that grows up to a million entries, and says what one then takes.
func BenchmarkSet(b *testing.B) {
	each(b, func(b *testing.B, p population) {
		h := new(Heap[*int])
		for i := 0; b.Loop(); i++ {
			if i%million == 0 {
				h = new(Heap[*int])
			}
			h.Set(p[i%million])
		}
		h = nil
		b.ReportMetric(p.bytesPerEntry(), "bytes/entry")
	})
}

// BenchmarkMove gives entries among a million a new deadline.
func BenchmarkMove(b *testing.B) {
	each(b, func(b *testing.B, p population) {
		h := new(Heap[*int])
		p.fill(h)
		for i := 0; b.Loop(); i++ {
			e := p[i*7919%million]
			e.At = scattered()
			h.Set(e)
		}
	})
}

// BenchmarkSetAndCancel cancels one of a million entries and adds it again.
func BenchmarkSetAndCancel(b *testing.B) {
	each(b, func(b *testing.B, p population) {
		h := new(Heap[*int])
		p.fill(h)
		for i := 0; b.Loop(); i++ {
			e := p[i*7919%million]
			h.Cancel(e.UID)
			h.Set(e)
		}
	})
}

// BenchmarkCancel empties a heap of a million entries in random order.
func BenchmarkCancel(b *testing.B) {
	each(b, func(b *testing.B, p population) {
		h := new(Heap[*int])
		for i := 0; b.Loop(); i++ {
			if h.Len() == 0 {
				b.StopTimer()
				p.fill(h)
				b.StartTimer()
			}
			h.Cancel(p[i*7919%million].UID)
		}
	})
}

// BenchmarkPopDue empties a heap of a million entries that are all due. The first pop, which lets
// all nodes join the round robin, is reported beside the mean.
func BenchmarkPopDue(b *testing.B) {
	each(b, func(b *testing.B, p population) {
		now := start.Add(time.Hour)
		h := new(Heap[*int])
		var first time.Duration
		for b.Loop() {
			if h.Len() == 0 {
				b.StopTimer()
				p.fill(h)
				b.StartTimer()
				t := time.Now()
				h.Due(now)
				first = time.Since(t)
			}
			h.PopDue(now)
		}
		b.ReportMetric(float64(first.Microseconds()), "us/first")
	})
}

// BenchmarkSetAndCancelNodeByNode is what a shard does: a node gets a taint, and all its pods are
// added, one after the other, to a heap that holds a million entries of others; the taint is lifted,
// and all are cancelled. The time is that of one Set and one Cancel.
func BenchmarkSetAndCancelNodeByNode(b *testing.B) {
	const podsEach = 100
	h := new(Heap[*int])
	populate(million, 10_000, scattered).fill(h)
	nodes := make([]population, 1000)
	for i := range nodes {
		nodes[i] = populate(podsEach, 1, scattered)
		for j := range nodes[i] {
			nodes[i][j].Node = "another-" + strconv.Itoa(i)
		}
	}
	runtime.GC()
	b.ResetTimer()
	for done := 0; done < b.N; done += podsEach {
		p := nodes[done/podsEach%len(nodes)]
		p.fill(h)
		for i := range p {
			h.Cancel(p[i].UID)
		}
	}
}
