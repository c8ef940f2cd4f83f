package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// cpuSeconds returns the processor time that a process has used so far, as the kernel's scheduler has counted it
// for its threads, to the nanosecond. Threads that have ended are not included; Go programs keep theirs.
func cpuSeconds(pid int) (float64, error) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of %d: %w", pid, err)
	}
	var sum float64
	for _, thread := range threads {
		text, err := os.ReadFile(dir + "/" + thread.Name() + "/schedstat")
		if err != nil {
			continue // it has ended
		}
		first, _, _ := bytes.Cut(text, []byte(" "))
		ns, err := strconv.ParseFloat(string(first), 64)
		if err != nil {
			return 0, fmt.Errorf("reading the processor time of %d: %w", pid, err)
		}
		sum += ns / 1e9
	}
	return sum, nil
}

// startOf returns when a process was started, which excludes the time that launching it takes. It is accurate to 10
// ms, the kernel's unit.
func startOf(pid int) (time.Time, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the start of %d: %w", pid, err)
	}
	uptime, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the start of %d: %w", pid, err)
	}
	now := time.Now()
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	ticks, err1 := strconv.ParseFloat(fields[19], 64) // starttime, see proc(5)
	seconds, err2 := strconv.ParseFloat(strings.Fields(string(uptime))[0], 64)
	if err := errors.Join(err1, err2); err != nil {
		return time.Time{}, fmt.Errorf("reading the start of %d: %w", pid, err)
	}
	const ticksPerSecond = 100
	return now.Add(-time.Duration((seconds - ticks/ticksPerSecond) * float64(time.Second))), nil
}
