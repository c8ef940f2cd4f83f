// Command scale measures taint-manager on clusters of up to a million pods, against a server of its own that speaks the
// API server's protocol and makes pods and nodes from their numbers. Up to 100,000 pods, it measures the built-in
// controller in the same way.
//
// It prints a table with the targets, and writes it into a document. A missed target is no failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

func main() { report.Main("scale", run) }

// builtinUpTo is the largest number of pods with which the built-in controller is measured.
const builtinUpTo = 100_000

func run(ctx context.Context, args []string) error {
	var files report.Files
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	numbers := flags.String("pods", "10000,100000,1000000", "numbers of pods, with commas between")
	files.Bind(flags)
	profiles := flags.String("profiles", "", "the folder to write profiles to; empty: none")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the command line: %w", err)
	}
	var sizes []size
	for number := range strings.SplitSeq(*numbers, ",") {
		pods, err := strconv.Atoi(number)
		if err != nil || pods < 1000 {
			return fmt.Errorf("-pods=%s: %q is no number of at least 1000", *numbers, number)
		}
		s := size{pods: pods}
		if s.ours, err = measure(ctx, pods, *profiles, false); err != nil {
			return fmt.Errorf("%d pods: %w", pods, err)
		}
		if pods <= builtinUpTo {
			if s.builtin, err = measure(ctx, pods, "", true); err != nil {
				return fmt.Errorf("%d pods, the built-in controller: %w", pods, err)
			}
		}
		sizes = append(sizes, s)
	}
	return files.Write(1, rows(sizes))
}

// measure measures taint-manager, or the built-in controller, with this number of pods.
func measure(ctx context.Context, pods int, profiles string, builtin bool) (report.Outcome, error) {
	t, err := newTrial(pods, profiles, builtin)
	if err != nil {
		return nil, err
	}
	out, err := t.run(ctx)
	return out, errors.Join(err, t.close())
}
