package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"

	"github.com/taint-manager/taint-manager/cli"
)

// profilesDir is the environment variable that makes this program, called as "bench run ...", run taint-manager and
// write profiles of itself to that folder when it ends.
const profilesDir = "BENCH_PROFILES"

// profiled runs taint-manager and returns its exit code.
func profiled(dir string, args []string) int {
	stop, err := startProfiles(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: writing profiles:", err)
		return 1
	}
	// The name is that of the program that it acts as.
	code := cli.Run(context.Background(), append([]string{"taint-manager"}, args[1:]...), os.Stdout, os.Stderr)
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: writing profiles:", err)
		return 1
	}
	return code
}

// startProfiles begins a CPU profile; stop ends it, and writes a memory profile: the memory in use, and all
// allocations.
func startProfiles(dir string) (stop func() error, err error) {
	name := func(kind string) string { return filepath.Join(dir, fmt.Sprintf("%s-%d.pprof", kind, os.Getpid())) }
	file, err := os.Create(name("cpu"))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		runtime.GC()
		heap, err := os.Create(name("heap"))
		if err != nil {
			return errors.Join(err, file.Close())
		}
		return errors.Join(pprof.Lookup("heap").WriteTo(heap, 0), heap.Close(), file.Close())
	}, nil
}
