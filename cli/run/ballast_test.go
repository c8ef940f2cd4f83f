package run

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestWithTheBallastGarbageIsCollectedRarely(t *testing.T) {
	if !alone(t) {
		return
	}
	without := collections()
	block := ballast()
	with := collections()
	runtime.KeepAlive(block)
	if with == 0 || 2*with > without {
		t.Errorf("%d collections, and %d without the ballast, want half of them at most", with, without)
	}
}

// alone runs the test in a process of its own, which has no memory of other tests. It reports whether this is that process.
func alone(t *testing.T, environment ...string) bool {
	t.Helper()
	if os.Getenv("ALONE") != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(append(os.Environ(), "ALONE=1"), environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// garbage keeps the compiler from putting what is allocated on the stack.
var garbage []byte

// collections returns how often garbage is collected while 256 MiB are allocated.
func collections() uint32 {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 256 << 10 {
		garbage = make([]byte, 1<<10)
	}
	runtime.ReadMemStats(&after)
	return after.NumGC - before.NumGC
}

// Where garbage is collected, the ballast could get memory that was used before.
func TestTheBallastTakesNoMemory(t *testing.T) {
	if !alone(t, "GOGC=off") {
		return
	}
	before := resident(t)
	block := ballast()
	if grown := resident(t) - before; grown > ballastSize/4 {
		t.Errorf("%d bytes of resident memory for a ballast of %d", grown, len(block))
	}
	runtime.KeepAlive(block)
}

// resident returns this process's resident memory in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("this system has no /proc/self/statm")
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	must(t, err)
	return pages * os.Getpagesize()
}
