package load

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Memory returns the present and the peak memory of a process, in MB of 10^6 bytes.
func Memory(pid int) (now, peak float64, err error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, fmt.Errorf("reading the memory of %d: %w", pid, err)
	}
	status, err := process.NewStatus()
	if err != nil {
		return 0, 0, fmt.Errorf("reading the memory of %d: %w", pid, err)
	}
	return float64(status.VmRSS) / 1e6, float64(status.VmHWM) / 1e6, nil
}

// ProcessorTime returns the seconds of processor time that the threads of a process have used so far. The kernel counts
// nanoseconds. Threads that have ended are not included; Go programs keep their threads.
func ProcessorTime(pid int) (seconds float64, err error) {
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of %d: %w", pid, err)
	}
	for _, thread := range threads {
		if s, err := thread.Schedstat(); err == nil { // otherwise the thread has ended
			seconds += float64(s.RunningNanoseconds) / 1e9
		}
	}
	return seconds, nil
}

// ProcessorTimeOf returns the seconds of processor time that a process uses while do runs.
func ProcessorTimeOf(pid int, do func() error) (seconds float64, err error) {
	before, err := ProcessorTime(pid)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := ProcessorTime(pid)
	return after - before, err
}

// Metrics returns the metrics of the server at this address, as a user of its cluster. It accepts any certificate.
func Metrics(ctx context.Context, kubeconfig, address string) (string, error) {
	config, err := clientcmd.BuildConfigFromFlags("https://"+address, kubeconfig)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", kubeconfig, err)
	}
	config.Insecure, config.CAData, config.Timeout = true, nil, 3*time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("setting up a client: %w", err)
	}
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	return string(text), err
}

// Sum adds up the samples of a metric in the text format, or those of its series that contain all these words.
func Sum(metrics, name string, words ...string) (total float64) {
	for line := range strings.Lines(metrics) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			continue
		}
		fields := strings.Fields(line)
		value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err == nil {
			total += value
		}
	}
	return total
}
