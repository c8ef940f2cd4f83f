package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// outcome has the figures of one subject with one number of pods, by the names of their rows.
type outcome map[string]float64

// row is a line of the table. The target is for the largest number of pods.
type row struct {
	name   string
	text   string // with the unit
	bound  string // least or most; empty for no target
	limit  float64
	linear bool // the figure may grow tenfold from 100,000 to 1,000,000 pods
}

const (
	least = "at least"
	most  = "at most"
)

// rows returns all lines, in their order.
func rows() []row {
	return []row{
		{"start", "process start to the first deletion, s", most, 60, true},
		{"startCPU", "processor time of the start, s", "", 0, true},
		{"memory", "resident memory after the start, MB", most, 1073.7, true}, // 1 GiB
		{"peak", "peak memory of the start, MB", most, 1395.9, false},         // 1.3 GiB
		{"updateCores", "10,000 status updates a second, cores", most, 0.5, false},
		{"judged", "taints on a tenth of the nodes: until all is scheduled, s", most, 2, false},
		{"rate", "a tenth of the pods due together: evictions a second", least, 1000, false},
		{"first", "… the first, ms", most, 100, false},
		{"early", "… too early, pods", most, 0, false},
		{"loneMedian", "… lone pods on other nodes meanwhile, median, s", most, 1, false},
		{"evictionCPU", "… processor time for each, µs", "", 0, false},
		{"requestsEach", "… requests for each", "", 0, false},
		{"burstMemory", "… resident memory at the end, MB", "", 0, true},
		{"allJudged", "taints on all nodes: until all is scheduled, s", "", 0, true},
		{"journaled", "… until the journal is written, s", "", 0, false},
		{"journalSize", "… largest ConfigMap of the journal, kB", most, 1048, false},
		{"allMemory", "… resident memory, MB", "", 0, true},
		{"allPeak", "… peak memory since the start, MB", "", 0, false},
		{"pageShare", "… the page, % of a core", most, 2, false},
		{"pageMemory", "… the page, MB", most, 50, false},
		{"summaryTime", "… `pending -A -o summary`, s; killed after 30", most, 20, false},
		{"summaryMemory", "… `pending -A -o summary`, MB", most, 500, false},
		{"nodeTime", "… `pending -A --node NODE`, s", most, 5, false},
		{"takeoverTime", "… restart: from the end of the list of pods to the first write, s", most, 5, false},
		{"restarting", "… restart: process start to the first write, s", "", 0, false},
		{"later", "… restart: the earliest 10,000 deadlines, later by at most, s", most, 1, false}, // as clocks are known
		{"earlier", "… restart: the earliest 10,000 deadlines, earlier by at most, s", most, 0, false},
	}
}

// results are the outcomes by number of pods, of taint-manager and of the built-in controller.
type results struct {
	Machine string          `json:"machine"`
	Ours    map[int]outcome `json:"taint-manager"`
	Builtin map[int]outcome `json:"builtin"`
}

// write writes the results, and the document with their table. An empty name means that one is not written.
func (r results) write(file, document string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil && file != "" {
		err = os.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err == nil && document != "" {
		err = os.WriteFile(document, []byte(fmt.Sprintf(documentFormat, r.Machine, r.table())), 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

const documentFormat = `# The figures of make scale

` + "`make scale`" + ` writes this page: taint-manager on clusters of up to a million pods of 4.5 kB, ten to a node, with a
server that speaks the API server's protocol and answers each call after 2 ms. It shares the processors with that
server. [performance.md](../performance.md) says what is missed and why. The built-in controller runs in a
kube-controller-manager without client limits, against the same server.

%s.

%s`

// table returns the table of all figures. Growth is from the last but one number of pods to the last.
func (r results) table() string {
	var out strings.Builder
	sizes := slices.Sorted(maps.Keys(r.Ours))
	out.WriteString("| |")
	for _, size := range sizes {
		fmt.Fprintf(&out, " %s pods |", thousands(size))
		if r.Builtin[size] != nil {
			out.WriteString(" built-in |")
		}
	}
	out.WriteString(" growth | target | |\n|---|" + strings.Repeat("---|", len(sizes)+len(r.Builtin)+3) + "\n")
	for _, row := range rows() {
		fmt.Fprintf(&out, "| %s |", row.text)
		var figures []float64
		for _, size := range sizes {
			if figure, measured := r.Ours[size][row.name]; measured {
				figures = append(figures, figure)
			}
			fmt.Fprintf(&out, " %s |", cell(r.Ours[size], row.name))
			if b := r.Builtin[size]; b != nil {
				fmt.Fprintf(&out, " %s |", cell(b, row.name))
			}
		}
		out.WriteString(row.judgement(figures))
	}
	return out.String()
}

// judgement returns the last columns of a row with these figures.
func (r row) judgement(figures []float64) string {
	if len(figures) == 0 {
		return " | | |\n"
	}
	last := figures[len(figures)-1]
	met := r.bound == "" || r.bound == least && last >= r.limit || r.bound == most && last <= r.limit
	growth, target, verdict := "", "", "met"
	if r.bound != "" {
		target = fmt.Sprintf("%s %s", r.bound, number(r.limit))
	}
	if r.linear && len(figures) > 1 {
		by := last / figures[len(figures)-2]
		growth, target = "× "+number(by), strings.TrimPrefix(target+", × 10", ", ")
		met = met && by <= 10
	}
	switch {
	case target == "":
		verdict = ""
	case !met:
		verdict = "**missed**"
	}
	return fmt.Sprintf(" %s | %s | %s |\n", growth, target, verdict)
}

// cell formats a figure; a figure that was not measured is empty.
func cell(o outcome, name string) string {
	value, measured := o[name]
	if !measured {
		return ""
	}
	return number(value)
}

// number formats a figure with three significant digits, or with all digits before the point.
func number(f float64) string {
	if f == 0 {
		return "0"
	}
	digits := min(max(0, 2-int(math.Floor(math.Log10(math.Abs(f))))), 4)
	return strconv.FormatFloat(f, 'f', digits, 64)
}

// thousands formats a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
