package dump_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/internal/dump"
	"github.com/taint-manager/taint-manager/test/bigdump"
)

var podsFlag = flag.Int("dump.pods", 1000, "the number of pods in the must-gather that is measured; with 100000 it has 3 GB")

// shortest returns the least time that each function takes over several rounds, in which they alternate.
func shortest(rounds int, functions ...func()) []time.Duration {
	took := make([]time.Duration, len(functions))
	for round := range rounds {
		for i, f := range functions {
			begin := time.Now()
			f()
			if now := time.Since(begin); round == 0 || now < took[i] {
				took[i] = now
			}
		}
	}
	return took
}

func TestADumpIsReadInThreeTimesTheTimeThatEncodingJSONNeedsToCheckIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	text := must(io.ReadAll(must(bigdump.Cluster{Nodes: 5, PodsPerNode: 100}.JSON())))
	took := shortest(7, func() {
		if err := dump.ReadAlone(bytes.NewReader(text), func(any, []time.Time) {}); err != nil {
			t.Fatal(err)
		}
	}, func() {
		if !json.Valid(text) {
			t.Fatal("the dump is no JSON")
		}
	})
	read, decode := took[0], took[1]
	t.Logf("%d kB: read in %s, checked by encoding/json in %s", len(text)>>10, read, decode)
	if read > 3*decode {
		t.Errorf("reading %d kB takes %s, encoding/json needs %s to check them", len(text)>>10, read, decode)
	}
}

// What a must-gather adds to its objects is files, of which most are logs.
func TestAMustGatherIsReadInTheTimeOfItsObjectsAndOfAWalk(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	c := bigdump.Cluster{Nodes: *podsFlag / 100, PodsPerNode: 100}
	for name, form := range map[string]bigdump.Form{"JSON": bigdump.Cluster.JSON, "YAML": bigdump.Cluster.YAML} {
		read := func(from io.Reader) {
			if pods, err := countPods(from); err != nil || pods != 2*c.Nodes*c.PodsPerNode {
				t.Fatalf("%s: read %d pods, %v", name, pods, err)
			}
		}
		gathered := func() io.Reader { return must(c.MustGather(form, 15_000)) }
		took := shortest(3, func() { read(gathered()) }, func() {
			read(io.MultiReader(must(form(c)), must(form(c))))
		}, func() { walk(t, gathered()) })
		archive, objects, walked := took[0], took[1], took[2]
		t.Logf("%s, %d pods: the archive in %s, its objects alone in %s, a walk in %s", name, *podsFlag, archive, objects, walked)
		if archive > objects*13/10+walked {
			t.Errorf("%s: the archive takes %s, its objects alone %s, a walk %s", name, archive, objects, walked)
		}
	}
}

// walk reads an archive to its end.
func walk(t *testing.T, from io.Reader) {
	archive, err := tar.NewReader(from), error(nil)
	for err == nil {
		_, err = archive.Next()
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
}
