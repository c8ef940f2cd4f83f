package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// overlay writes a package with all its mutants to a folder, and overlay.json, with which go reads it.
func overlay(dir, to string) ([]mutant, error) {
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	replace := map[string]string{}
	write := func(name, text string) error {
		replace[filepath.Join(abs, name)] = filepath.Join(to, name)
		return os.WriteFile(filepath.Join(to, name), []byte(text), 0o600)
	}
	var mutants []mutant
	for _, name := range pkg.GoFiles {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		var rewritten string
		if rewritten, mutants, err = rewrite(filepath.Join(dir, name), string(text), mutants); err != nil {
			return nil, err
		}
		if err := write(name, rewritten); err != nil {
			return nil, err
		}
	}
	if err := write(chosen+".go", fmt.Sprintf(chooser, pkg.Name)); err != nil {
		return nil, err
	}
	files, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	return mutants, os.WriteFile(filepath.Join(to, "overlay.json"), files, 0o600)
}

// A suite is a compiled package of tests, and how to run it.
type suite struct {
	dir, binary string
	flags       []string
	limit       time.Duration // of a run; 0: not measured yet
}

// compile returns the tests that run for a mutant until one finds it: those of its package, first the short ones, and
// those of another package.
func (o options) compile(dir, temp string) ([]*suite, error) {
	own := filepath.Join(temp, "own")
	suites := []*suite{{dir: dir, binary: own, flags: []string{"-test.short"}}}
	if !o.short {
		suites = append(suites, &suite{dir: dir, binary: own})
	}
	if also := strings.Fields(o.also); len(also) > 0 {
		suites = append(suites, &suite{dir: also[0], binary: filepath.Join(temp, "also"), flags: also[1:]})
	}
	for _, s := range suites {
		build := exec.CommandContext(context.Background(), "go", "test", "-c", "-vet=off", "-trimpath",
			"-overlay", filepath.Join(temp, "overlay.json"), "-o", s.binary, "./"+s.dir)
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	return suites, nil
}

// measure runs the tests without a mutant, and sets the limit: generously, because other programs may need the
// processor.
func (s *suite) measure() error {
	if s.limit > 0 {
		return nil
	}
	began := time.Now()
	if out, err := s.command(context.Background(), 0).CombinedOutput(); err != nil {
		return fmt.Errorf("the tests of %s fail without a mutant: %w: %s", s.dir, err, out)
	}
	s.limit = 10*time.Since(began) + 20*time.Second
	return nil
}

func (s *suite) command(ctx context.Context, mutant int) *exec.Cmd {
	c := exec.CommandContext(ctx, s.binary, append([]string{"-test.failfast"}, s.flags...)...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), fmt.Sprintf("MUTANT=%d", mutant))
	return c
}

// search runs tests until they find a mutant: they fail, or take far longer than without one.
func search(suites []*suite, mutant int) (result, error) {
	for _, s := range suites {
		if err := s.measure(); err != nil {
			return "", err
		}
		ctx, cancel := context.WithTimeout(context.Background(), s.limit)
		err := s.command(ctx, mutant).Run()
		expired := ctx.Err() != nil
		cancel()
		if exit := new(exec.ExitError); expired {
			return late, nil //nolint:nilerr // the error is that of the time limit
		} else if errors.As(err, &exit) {
			return found, nil
		} else if err != nil {
			return "", err
		}
	}
	return missed, nil
}
