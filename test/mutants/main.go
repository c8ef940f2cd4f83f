// Command mutants breaks each comparison and each && and || of packages in turn, and runs the tests of the package each
// time:
//
//	mutants taint internal/evict
//
// It prints the mutants that no test finds, except for those in tools/equivalent.txt, and fails if there is one. A
// package is compiled once, with all its mutants; an environment variable chooses one of them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
)

// list has the mutants that change nothing, each followed by # and why.
const list = "tools/equivalent.txt"

type options struct {
	also  string // a package, and flags of its tests
	only  string
	short bool
}

func main() {
	var o options
	flag.StringVar(&o.also, "also", "", "a package, and flags, of tests that run for mutants that the tests of their own package do not find")
	flag.StringVar(&o.only, "run", "", "a regular expression: other mutants are left out")
	flag.BoolVar(&o.short, "short", false, "do not run all tests for mutants that the short ones do not find")
	flag.Parse()
	if err := o.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (o options) run(dirs []string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	equivalent := map[string]bool{}
	for _, line := range strings.Split(string(text), "\n") {
		if m, _, ok := strings.Cut(line, " # "); ok {
			equivalent[m] = true
		}
	}
	left := 0
	for _, dir := range dirs {
		n, err := o.judge(path.Clean(dir), equivalent)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		left += n
	}
	if left > 0 {
		return fmt.Errorf("no test finds %d mutants, and %s does not list them", left, list)
	}
	return nil
}

// A result is what becomes of a mutant.
type result string

const (
	found  result = "found"
	late   result = "found by the time limit"
	same   result = "equivalent"
	missed result = "not found"
)

// judge prints what becomes of a package's mutants, and returns how many are neither found nor equivalent.
func (o options) judge(dir string, equivalent map[string]bool) (left int, err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return 0, err
	}
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	mutants, err := overlay(dir, temp)
	if err != nil {
		return 0, err
	}
	if err := checkList(dir, mutants, equivalent); err != nil {
		return 0, err
	}
	suites, err := o.compile(dir, temp)
	if err != nil {
		return 0, err
	}
	made, counts := 0, map[result]int{}
	for i, m := range mutants {
		if !only.MatchString(m.String()) {
			continue
		}
		r := same
		if !equivalent[m.String()] {
			if r, err = search(suites, i+1); err != nil {
				return 0, err
			}
		}
		made++
		counts[r]++
		if r == late || r == missed {
			fmt.Printf("%s: %s (line %d)\n", r, m, m.line)
		}
	}
	fmt.Printf("%s: %d mutants: %d %s, %d %s, %d %s, %d %s\n", dir, made,
		counts[found], found, counts[late], late, counts[same], same, counts[missed], missed)
	return counts[missed], nil
}

// checkList returns an error if a line of the list is about no mutant of its package.
func checkList(dir string, mutants []mutant, equivalent map[string]bool) error {
	names := map[string]bool{}
	for _, m := range mutants {
		names[m.String()] = true
	}
	for name := range equivalent {
		if file, _, _ := strings.Cut(name, ": "); path.Dir(file) == dir && !names[name] {
			return fmt.Errorf("there is no mutant %q; remove its line from the list", name)
		}
	}
	return nil
}
