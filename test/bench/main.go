// Command bench compares taint-manager with the controller that it replaces, and with a baseline: plain workers
// that send the same calls and decide nothing. All of them run on one real control plane, in turn, in the same
// minutes, on the same load, so that ratios depend less on the machine.
//
// The command prints a table with the targets, and writes the table into a document, and the results as JSON.
// docs/performance.md describes the measurements. A missed target is no failure: the command fails only if it can't
// measure.
package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

func main() { report.Main("bench", run) }

// garbage is the GOGC of this process: collections cost the plain workers, which run in it, little.
const garbage = 400

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	debug.SetGCPercent(garbage)
	rows, err := measure(ctx, o)
	if err != nil {
		return err
	}
	return o.files.Write(o.rounds, rows)
}

// options are the flags of the command line.
type options struct {
	rounds  int
	works   []string
	files   report.Files
	against string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 3, "how often each comparison is made")
	o.files.Bind(flags)
	flags.StringVar(&o.against, "against", "",
		"another build of taint-manager, with which this build is compared instead of the built-in controller")
	list := flags.String("work", "", "what to measure, with commas between: "+strings.Join(names(), ",")+"; empty: all")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("reading the command line: %w", err)
	}
	if o.rounds < 1 {
		return o, fmt.Errorf("-rounds=%d: there must be one round at least; leave it out for 3", o.rounds)
	}
	o.works = strings.FieldsFunc(*list, func(r rune) bool { return r == ',' })
	for _, name := range o.works {
		if !slices.Contains(names(), name) {
			return o, fmt.Errorf("-work=%s: there is no work %q; choose among %s", *list, name,
				strings.Join(names(), ","))
		}
	}
	if len(o.works) == 0 {
		o.works = names()
	}
	if o.against != "" {
		o.against, err = filepath.Abs(o.against)
	}
	return o, err
}
