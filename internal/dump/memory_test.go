package dump_test

import (
	"io"
	"runtime"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/dump"
	"github.com/taint-manager/taint-manager/test/bigdump"
)

// live returns how much memory is in use after garbage collection.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// peak returns the largest amount of memory in use while a dump of this number of pods is read.
func peak(t *testing.T, pods int) uint64 {
	from, err := bigdump.Cluster{Nodes: pods / 100, PodsPerNode: 100}.JSON()
	if err != nil {
		t.Fatal(err)
	}
	before, most, read := live(), uint64(0), 0
	if err := dump.ReadAlone(from, func(object any, _ []time.Time) {
		if _, ok := object.(*v1.Pod); !ok {
			return
		}
		if read++; read%500 == 0 {
			most = max(most, live())
		}
	}); err != nil || read != pods {
		t.Fatalf("read %d pods, %v", read, err)
	}
	return most - min(before, most)
}

func TestADumpInJSONOfAnySizeIsReadInTheSameMemory(t *testing.T) {
	small, large := peak(t, 1000), peak(t, 4000)
	t.Logf("%d kB for 1000 pods, %d kB for 4000", small>>10, large>>10)
	if large > small+256<<10 {
		t.Errorf("4000 pods take %d kB, 1000 take %d kB", large>>10, small>>10)
	}
}

func BenchmarkRead(b *testing.B) {
	for name, write := range map[string]func(bigdump.Cluster) (io.Reader, error){"JSON": bigdump.Cluster.JSON, "YAML": bigdump.Cluster.YAML} {
		b.Run(name+" of 10,000 pods", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pods := 0
				from, err := write(bigdump.Cluster{Nodes: 100, PodsPerNode: 100})
				if err != nil {
					b.Fatal(err)
				}
				if err := dump.ReadAlone(from, func(object any, _ []time.Time) {
					if _, ok := object.(*v1.Pod); ok {
						pods++
					}
				}); err != nil || pods != 10_000 {
					b.Fatalf("read %d pods, %v", pods, err)
				}
			}
		})
	}
}
