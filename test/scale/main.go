// Command scale measures taint-manager on clusters of up to a million pods, against a server of its own that speaks the
// API server's protocol and makes pods and nodes from their numbers. Up to 100,000 pods, it measures the built-in
// controller in the same way.
//
// It adds what it measures to a file of JSON, and writes a document with a table of that. A missed target is no
// failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// builtinUpTo is the largest number of pods with which the built-in controller is measured.
const builtinUpTo = 100_000

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	sizes := flags.String("pods", "10000,100000,1000000", "numbers of pods, with commas between")
	latency := flags.Duration("latency", 2*time.Millisecond, "how long the server takes for a call")
	file := flags.String("json", "", "the file to write the results to, as JSON")
	document := flags.String("document", "", "the document to write")
	profiles := flags.String("profiles", "", "the folder to write profiles to; empty: none")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the command line: %w", err)
	}
	r := results{Ours: map[int]outcome{}, Builtin: map[int]outcome{}}
	r.Machine = fmt.Sprintf("%s, %d cores", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU())
	for size := range strings.SplitSeq(*sizes, ",") {
		pods, err := strconv.Atoi(size)
		if err != nil || pods < 1000 {
			return fmt.Errorf("-pods=%s: %q is no number of at least 1000", *sizes, size)
		}
		if r.Ours[pods], err = measure(ctx, pods, *latency, *profiles, false); err != nil {
			return fmt.Errorf("%d pods: %w", pods, err)
		}
		if pods <= builtinUpTo {
			if r.Builtin[pods], err = measure(ctx, pods, *latency, "", true); err != nil {
				return fmt.Errorf("%d pods, the built-in controller: %w", pods, err)
			}
		}
	}
	fmt.Print(r.table())
	return r.write(*file, *document)
}

// measure measures taint-manager, or the built-in controller, with this number of pods.
func measure(ctx context.Context, pods int, latency time.Duration, profiles string, builtin bool) (outcome, error) {
	t, err := newTrial(pods, latency, profiles)
	if err != nil {
		return nil, err
	}
	out, err := t.run(ctx, builtin)
	return out, errors.Join(err, t.close())
}
