package report

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// Main runs a command, which an interrupt ends.
func Main(name string, run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Files are where the results of a command go, besides the terminal. An empty name means nowhere.
type Files struct{ json, document string }

// Bind registers the flags that name the files.
func (f *Files) Bind(flags *flag.FlagSet) {
	flags.StringVar(&f.json, "json", "", "the file to write the results to, as JSON")
	flags.StringVar(&f.document, "document", "", "the document to put the table into")
}

// Write prints the results of a run that has just ended, and writes the files.
func (f Files) Write(rounds int, rows []Row) error {
	r := Report{
		Date: time.Now().UTC().Format(time.DateOnly), Cores: runtime.NumCPU(), CPU: processor(),
		Rounds: rounds, Rows: rows,
	}
	fmt.Print("\n" + r.Markdown())
	if f.json != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err == nil {
			err = os.WriteFile(f.json, append(text, '\n'), 0o644)
		}
		if err != nil {
			return fmt.Errorf("writing the results: %w", err)
		}
	}
	if f.document == "" {
		return nil
	}
	text, err := os.ReadFile(f.document)
	if err != nil {
		return fmt.Errorf("reading the results of an earlier run: %w", err)
	}
	document, err := insert(string(text), r)
	if err == nil {
		err = os.WriteFile(f.document, []byte(document), 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing the results to %s: %w", f.document, err)
	}
	return nil
}

// processor names the processor of this machine, if the kernel says it.
func processor() string {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return ""
	}
	processors, err := proc.CPUInfo()
	if err != nil || len(processors) == 0 {
		return ""
	}
	return processors[0].ModelName
}
