package load

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func TestThisProcessHasTakenTimeAndMemory(t *testing.T) {
	before, err := ProcessorTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	// This waits for processor time, not for time: other processes may use most of the processors meanwhile.
	sum := 0
	for began := used(t); used(t)-began < 50*time.Millisecond; {
		sum++
	}
	after, err := ProcessorTime(os.Getpid())
	if took := after - before; err != nil || took < 0.03 || took > 5 {
		t.Errorf("counting to %d for 50 ms of processor time took %v s, %v", sum, took, err)
	}
	now, peak, err := Memory(os.Getpid())
	if err != nil || now < 1 || now > 10_000 || peak < now {
		t.Errorf("got %v MB, at most %v MB, %v", now, peak, err)
	}
}

// used returns the processor time of this process by another of the kernel's counters.
func used(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestAProcessThatIsGoneIsAnError(t *testing.T) {
	const nobody = 1 << 30
	_, err1 := ProcessorTime(nobody)
	_, _, err2 := Memory(nobody)
	if err1 == nil || err2 == nil {
		t.Errorf("got %v, %v", err1, err2)
	}
}
