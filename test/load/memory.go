package load

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory returns the present and the peak memory of a process, in MB of 10^6 bytes.
func Memory(pid int) (now, peak float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("reading the memory of %d: %w", pid, err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		kB, err := strconv.ParseFloat(fields[1], 64)
		switch {
		case fields[0] == "VmRSS:" && err == nil:
			now = kB * 1024 / 1e6
		case fields[0] == "VmHWM:" && err == nil:
			peak = kB * 1024 / 1e6
		}
	}
	if now == 0 || peak == 0 {
		return 0, 0, fmt.Errorf("reading the memory of %d: /proc/%[1]d/status names none", pid)
	}
	return now, peak, nil
}
