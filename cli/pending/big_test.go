package pending

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/test/bigdump"
)

var fullFlag = flag.Bool("pending.full", false, "measure pending with must-gathers of 100,000 pods, each of which is there twice")

// gathered is a must-gather of this number of pods, in which each is there twice and has a log of this many bytes.
func gathered(t *testing.T, form bigdump.Form, pods, log int) io.Reader {
	t.Helper()
	from, err := bigdump.Cluster{Nodes: pods / 100, PodsPerNode: 100}.MustGather(form, log)
	if err != nil {
		t.Fatal(err)
	}
	return from
}

// pendingIn answers from a dump on the standard input.
func pendingIn(t *testing.T, in io.Reader) {
	t.Helper()
	from, fs, cmd := source.NewFlags(""), pflag.NewFlagSet("", pflag.PanicOnError), new(cobra.Command)
	from.Bind(fs, fs)
	cmd.SetIn(in)
	if err := fs.Parse([]string{"-f", "-"}); err != nil {
		t.Fatal(err)
	}
	opened, _, err := from.Open(cmd, true)
	if err != nil {
		t.Fatal(err)
	}
	scope := &source.Scope{Scheduled: true, Focus: foresight.Focus{Nodes: new(foresight.Selection)}, At: foresight.Moment{At: time.Now()}}
	m, err := source.Load(t.Context(), opened, scope)
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Pending(m.At(), nil); len(p.Pods) > 0 || len(p.Incomplete) > 0 {
		t.Fatalf("%d pods, %q", len(p.Pods), p.Incomplete)
	}
}

func TestAPodOfAMustGatherTakesAKilobyte(t *testing.T) {
	peak := func(pods int) uint64 {
		before, from := bigdump.InUse(), &bigdump.Weighed{Reader: gathered(t, bigdump.Cluster.JSON, pods, 1000)}
		pendingIn(t, from)
		return from.Peak - min(before, from.Peak)
	}
	peak(100) // what is allocated once
	small, large := peak(1000), peak(3000)
	each := (large - min(small, large)) / 2000
	t.Logf("%d bytes", each)
	if each > 1000 {
		t.Errorf("each pod takes %d bytes", each)
	}
}

func TestAMustGatherOf100000PodsIsAnsweredWithin20sInJSONAnd300MB(t *testing.T) {
	if !*fullFlag {
		t.Skip("it takes minutes and 4 GB of disk; -pending.full runs it")
	}
	for _, c := range []struct {
		name   string
		form   bigdump.Form
		within time.Duration // 0: no limit
	}{{"JSON", bigdump.Cluster.JSON, 20 * time.Second}, {"YAML", bigdump.Cluster.YAML, 0}} {
		file, err := os.Create(filepath.Join(t.TempDir(), "must-gather.tar"))
		if err != nil {
			t.Fatal(err)
		}
		size, err1 := io.Copy(file, gathered(t, c.form, 100_000, 15_000))
		if _, err2 := file.Seek(0, io.SeekStart); err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		began := time.Now()
		pendingIn(t, file)
		took, resident := time.Since(began), mostResident(t)
		t.Logf("%s: %d MB in %s, with %d MB of memory", c.name, size>>20, took, resident>>10)
		if c.within > 0 && took > c.within || resident > 300<<10 {
			t.Errorf("%s: it takes %s and %d MB", c.name, took, resident>>10)
		}
		if err := errors.Join(file.Close(), os.Remove(file.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// mostResident returns the largest resident memory that the process has had, in kB.
func mostResident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`VmHWM:\s*([0-9]+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatal("the system does not tell the resident memory")
	}
	most, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return most
}
