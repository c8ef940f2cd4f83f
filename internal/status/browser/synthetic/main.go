// Command synthetic serves the page over a synthetic cluster of any size, for looking at it, for its browser tests
// and for measuring it. It prints its address, and ends when its input does. GET /usage returns the CPU seconds
// that it has used.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/taint-manager/taint-manager/internal/status"
)

func main() {
	address := flag.String("address", "127.0.0.1:0", "where to serve")
	scheduled := flag.Int("scheduled", 10000, "evictions that are scheduled at any time")
	nodes := flag.Int("nodes", 200, "tainted nodes")
	rate := flag.Float64("rate", 20, "evictions a second")
	limit := flag.Float64("limit", 0, "evictions a second that the page shows as the limit; 0: none")
	scene := flag.String("scene", "leading",
		"leading, calm, standby, dry-run, trouble, original, starting, backlog or policies")
	flag.Parse()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if err := serve(ctx, *address, newWorld(*scheduled, *nodes, *rate, *scene), *limit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, address string, w *world, limit float64) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	usage, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(tellUsage), ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(usage) }()
	defer func() { _ = server.Close() }()
	go w.run(ctx)
	fmt.Printf("{\"page\": \"http://%s/\", \"usage\": \"http://%s/\"}\n", listener.Addr(), usage.Addr())
	manager := func() status.Manager { m := w.manager(); m.MaxEvictionsPerSecond = limit; return m }
	return status.New(status.Options{Source: w, History: &w.history, Manager: manager}).Serve(ctx, listener)
}

func tellUsage(w http.ResponseWriter, _ *http.Request) {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	_ = json.NewEncoder(w).Encode(map[string]float64{"cpuSeconds": seconds(used.Utime) + seconds(used.Stime)})
}
