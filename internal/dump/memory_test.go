package dump_test

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/dump"
	"github.com/taint-manager/taint-manager/test/bigdump"
)

// peak returns the largest amount of memory in use while a dump with this number of pods is read.
func peak(t *testing.T, pods int, from io.Reader) uint64 {
	before, weighed := bigdump.InUse(), &bigdump.Weighed{Reader: from}
	if read, err := countPods(weighed); err != nil || read != pods {
		t.Fatalf("read %d pods, %v", read, err)
	}
	return weighed.Peak - min(before, weighed.Peak)
}

func countPods(from io.Reader) (pods int, _ error) {
	err := dump.ReadAlone(from, func(object any, _ []time.Time) {
		if _, ok := object.(*v1.Pod); ok {
			pods++
		}
	})
	return pods, err
}

func TestADumpInJSONOfAnySizeIsReadInTheSameMemory(t *testing.T) {
	peaks := map[string]func(pods int) uint64{
		"a list": func(pods int) uint64 {
			return peak(t, pods, must(bigdump.Cluster{Nodes: pods / 100, PodsPerNode: 100}.JSON()))
		},
		"a must-gather": func(pods int) uint64 { // each pod is there twice, and has a log
			c := bigdump.Cluster{Nodes: pods / 100, PodsPerNode: 100}
			return peak(t, 2*pods, must(c.MustGather(bigdump.Cluster.JSON, 1000)))
		},
	}
	for name, peak := range peaks {
		small, large := peak(1000), peak(4000)
		t.Logf("%s: %d kB for 1000 pods, %d kB for 4000", name, small>>10, large>>10)
		if large > small+1<<20 { // a kilobyte for each pod would be 3 MB more; garbage makes up half of a MB
			t.Errorf("%s: 4000 pods take %d kB, 1000 take %d kB", name, large>>10, small>>10)
		}
	}
}

// No object takes as much memory, for its length, as a list of empty objects. Some of what is allocated is freed before
// the object has been read.
func TestTheLargestObjectTakesAboutAGigabyte(t *testing.T) {
	const most, bytes = 5 << 28, dump.MostParsed / 32
	for name, c := range map[string]struct{ before, each, after string }{
		"YAML of an object":       {"kind: Service\napiVersion: v1\nspec: {selector: [", "{},", "]}\n"},
		"YAML of an object, deep": {"kind: Service\napiVersion: v1\nspec: {selector: [", "{a: {}},", "]}\n"},
		"JSON of a pod":           {`{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}, "status": {"containerStatuses": [{}`, ",{}", "]}}"},
		"JSON of containers":      {`{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"containers": [{}`, ",{}", "]}}"},
		"JSON of a slice":         {`{"kind": "ResourceSlice", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "a"}, "spec": {"devices": [{}`, ",{}", "]}}"},
	} {
		text := c.before + strings.Repeat(c.each, bytes/len(c.each)) + c.after
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := dump.ReadAlone(strings.NewReader(text), func(any, []time.Time) {}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		allocated := (after.TotalAlloc - before.TotalAlloc) / uint64(len(text))
		t.Logf("%s: %d bytes for each byte", name, allocated)
		if allocated*dump.MostParsed > most {
			t.Errorf("%s: it takes %d bytes for each byte, %d MiB at most", name, allocated, allocated*dump.MostParsed>>20)
		}
	}
}
