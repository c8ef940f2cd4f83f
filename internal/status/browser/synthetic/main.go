// Command synthetic serves the page over a synthetic cluster of any size, for looking at it, for its browser tests
// and for measuring it. It prints its address, and ends when its input does.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

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
	go wait.UntilWithContext(ctx, w.step, 100*time.Millisecond)
	fmt.Printf("{\"page\": \"http://%s/\"}\n", listener.Addr())
	manager := func() status.Manager { m := w.manager(); m.MaxEvictionsPerSecond = limit; return m }
	return status.New(status.Options{Source: w, History: &w.history, Manager: manager}).Serve(ctx, listener)
}
