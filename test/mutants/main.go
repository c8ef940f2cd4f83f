// Command mutants breaks each comparison and each && and || of packages in turn, and runs the tests of the package after
// each:
//
//	mutants taint internal/evict
//
// It prints the mutants that no test finds and that no line of a file calls equivalent, and fails if there is one.
// A package is compiled once, with all its mutants; an environment variable chooses one of them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
)

type options struct {
	equivalent map[string]bool
	also       []string // a package and flags of its tests
	only       *regexp.Regexp
}

func main() {
	list := flag.String("equivalent", "tools/equivalent.txt", "a file with the mutants that change nothing, each followed by # and why")
	also := flag.String("also", "", "a package, and flags, of tests that run for mutants that the tests of their own package do not find")
	only := flag.String("run", "", "a regular expression: other mutants are left out")
	flag.Parse()
	if err := run(flag.Args(), *list, *also, *only); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(dirs []string, list, also, only string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	o := options{equivalent: map[string]bool{}, also: strings.Fields(also)}
	if o.only, err = regexp.Compile(only); err != nil {
		return err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if m, _, ok := strings.Cut(line, " # "); ok {
			o.equivalent[m] = true
		}
	}
	left := 0
	for _, dir := range dirs {
		n, err := o.judge(path.Clean(dir))
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
func (o options) judge(dir string) (left int, err error) {
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it is temporary
	mutants, err := overlay(dir, temp)
	if err != nil {
		return 0, err
	}
	if err := o.checkList(dir, mutants); err != nil {
		return 0, err
	}
	tests, err := compile(dir, o.also, temp)
	if err != nil {
		return 0, err
	}
	counts := map[result]int{}
	for i, m := range mutants {
		r := same
		if !o.only.MatchString(m.String()) {
			continue
		}
		if !o.equivalent[m.String()] {
			if r, err = search(tests, i+1); err != nil {
				return 0, err
			}
		}
		counts[r]++
		if r == late || r == missed {
			fmt.Printf("%s: %s (line %d)\n", r, m, m.line)
		}
	}
	fmt.Printf("%s: %d mutants: %d %s, %d %s, %d %s, %d %s\n", dir, len(mutants),
		counts[found], found, counts[late], late, counts[same], same, counts[missed], missed)
	return counts[missed], nil
}

// checkList returns an error if a line of the list is about no mutant of its package.
func (o options) checkList(dir string, mutants []mutant) error {
	names := map[string]bool{}
	for _, m := range mutants {
		names[m.String()] = true
	}
	for name := range o.equivalent {
		if file, _, _ := strings.Cut(name, ": "); path.Dir(file) == dir && !names[name] {
			return fmt.Errorf("there is no mutant %q; remove its line from the list", name)
		}
	}
	return nil
}
