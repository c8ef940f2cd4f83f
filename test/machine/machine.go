// Package machine tells whether times that are measured on this machine mean anything.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
)

const (
	blocks = 4
	block  = 128 << 20 // bytes
	page   = 4 << 10

	// atMost is ten times what a machine needs for a block if it has its memory for itself, and more than the 350 ms
	// that a virtual machine needs for a block that it uses for the first time.
	atMost = 500 * time.Millisecond

	threadOnly = 1 // RUSAGE_THREAD of Linux
)

// Skipped names the environment variable with the path of a file to which [Skip] appends what it skips: `go test` does
// not print it.
const Skipped = "SKIPPED"

// SkipIfSwapping skips a test that measures time on a control plane if the machine, or the host of this virtual
// machine, is swapping memory: then the API server itself takes seconds for what takes milliseconds elsewhere.
func SkipIfSwapping(t testing.TB) {
	t.Helper()
	if why := Skip(t.Name()); why != "" {
		t.Skip(why)
	}
}

// Skip returns why the test or the run with this name is skipped; "" if this machine is not swapping memory.
func Skip(name string) (why string) {
	took := touch()
	if took <= atMost {
		return ""
	}
	if file, err := os.OpenFile(os.Getenv(Skipped), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		fmt.Fprintln(file, name)
		_ = file.Close()
	}
	return fmt.Sprintf("this machine is swapping memory: it needs %v of processor time to touch %d MiB, want at most %v",
		took.Round(time.Millisecond), block>>20, atMost)
}

// touch returns the processor time that it takes to write to each page of a block of fresh memory, for the slowest of
// several blocks. It does not depend on what else runs.
func touch() (slowest time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.FreeOSMemory()
	var all [blocks][]byte
	for i := range all {
		began := spent()
		all[i] = make([]byte, block)
		for j := 0; j < block; j += page {
			all[i][j] = 1
		}
		slowest = max(slowest, spent()-began)
	}
	runtime.KeepAlive(all)
	return slowest
}

// spent returns the processor time of this thread; 0 where that is not known.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(threadOnly, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
