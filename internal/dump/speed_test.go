package dump_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/internal/dump"
	"github.com/taint-manager/taint-manager/test/bigdump"
)

// shortest returns the least time that each of two functions takes over several rounds, in which they alternate.
func shortest(rounds int, one, other func()) (a, b time.Duration) {
	a, b = time.Hour, time.Hour
	for range rounds {
		begin := time.Now()
		one()
		a = min(a, time.Since(begin))
		begin = time.Now()
		other()
		b = min(b, time.Since(begin))
	}
	return a, b
}

func TestADumpIsReadInTwiceTheTimeThatEncodingJSONNeedsToCheckIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	from, err := bigdump.Cluster{Nodes: 5, PodsPerNode: 100}.JSON()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	read, decode := shortest(7, func() {
		if err := dump.ReadAlone(bytes.NewReader(text), func(any, []time.Time) {}); err != nil {
			t.Fatal(err)
		}
	}, func() {
		if !json.Valid(text) {
			t.Fatal("the dump is no JSON")
		}
	})
	t.Logf("%d kB: read in %s, checked by encoding/json in %s", len(text)>>10, read, decode)
	if read > 2*decode {
		t.Errorf("reading %d kB takes %s, encoding/json needs %s to check them", len(text)>>10, read, decode)
	}
}
