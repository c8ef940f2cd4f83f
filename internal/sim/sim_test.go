package sim

import (
	"flag"
	"os"
	"bufio"
	"fmt"
	"testing"
)

var (
	seedFlag = flag.Uint64("sim.seed", 0, "replay the world of this seed, with its trace")
	worlds = flag.Int("sim.worlds", 10000, "run so many worlds")
)

func TestWorlds(t *testing.T) {
	strict = os.Getenv("STRICT") != ""
	if *seedFlag != 0 {
		out := bufio.NewWriter(os.Stdout)
		r := Run(*seedFlag, func(l string) { fmt.Fprintln(out, l) })
		out.Flush()
		if r.Err != nil { t.Fatal(r.Err) }
		return
	}
	var c Counts
	bad := 0
	for seed := uint64(1); seed <= uint64(*worlds); seed++ {
		r := Run(seed, nil)
		c.Add(&r.Counts)
		if r.Err != nil {
			t.Errorf("seed %d: %v", seed, r.Err)
			if bad++; bad > 15 { break }
		}
	}
	t.Log(c.String())
}
