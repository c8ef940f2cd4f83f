// Command bench compares taint-manager with the controller that it replaces, and with a baseline: plain workers
// that send the same calls and decide nothing. All of them run on one real control plane, in turn, in the same
// minutes, on the same load, so that ratios depend less on the machine.
//
// It prints a table with the targets, and writes it as JSON and as a picture. docs/performance.md describes the
// measurements. It also exits with 0 if a target is missed; it fails only if it can't measure.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/taint-manager/taint-manager/test/bench/report"
)

func main() {
	if dir := os.Getenv(profilesDir); dir != "" && len(os.Args) > 1 && os.Args[1] == "run" {
		os.Exit(profiled(dir, os.Args))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// garbage is the GOGC of this process, as in taint-manager: the plain workers run in it.
const garbage = 400

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	debug.SetGCPercent(garbage)
	if o.profiles != "" {
		if err := os.Setenv(profilesDir, o.profiles); err != nil {
			return fmt.Errorf("asking for profiles: %w", err)
		}
	}
	began := time.Now()
	rows, err := measure(ctx, o)
	if err != nil {
		return err
	}
	summary := report.Summary{Machine: machine(began), Rounds: o.rounds, Rows: rows}
	fmt.Printf("\n%s\nAll of it took %v.\n", report.Table(summary), time.Since(began).Round(time.Second))
	return write(o, summary)
}

// options are the flags of the command line.
type options struct {
	rounds    int
	works     []string
	json, svg string
	document  string
	profiles  string
	against   string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 3, "how often each comparison is made")
	flags.StringVar(&o.json, "json", "", "the file to write the results to, as JSON")
	flags.StringVar(&o.svg, "svg", "", "the file to draw the results to")
	flags.StringVar(&o.document, "document", "", "the document to put the tables into")
	flags.StringVar(&o.profiles, "profiles", "",
		"the folder to write profiles of taint-manager to, which then runs a little slower")
	flags.StringVar(&o.against, "against", "",
		"another build of taint-manager, which bursts, status updates and starts are compared with instead of the original")
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
	return o, nil
}

// write writes the files that the options name.
func write(o options, s report.Summary) error {
	if o.json != "" {
		text, err := report.JSON(s)
		if err == nil {
			err = os.WriteFile(o.json, text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("writing the results: %w", err)
		}
	}
	if o.svg != "" {
		if err := os.WriteFile(o.svg, report.SVG(s), 0o644); err != nil {
			return fmt.Errorf("drawing the results: %w", err)
		}
	}
	if o.document == "" {
		return nil
	}
	old, err := os.ReadFile(o.document)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	text, err := report.Insert(string(old), s)
	if err == nil {
		err = os.WriteFile(o.document, []byte(text), 0o644)
	}
	if err != nil {
		return fmt.Errorf("putting the results into %s: %w", o.document, err)
	}
	return nil
}
