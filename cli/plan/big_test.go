package plan

import (
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/test/bigdump"
)

// planFrom computes the plan for a dump on the standard input.
func planFrom(tb testing.TB, q foresight.Question, in io.Reader) (*foresight.Plan, error) {
	tb.Helper()
	flags, fs, cmd := source.NewFlags(""), pflag.NewFlagSet("", pflag.PanicOnError), new(cobra.Command)
	flags.Bind(fs, fs)
	cmd.SetIn(in)
	cmd.SetErr(io.Discard)
	if err := fs.Parse([]string{"-f", "-"}); err != nil {
		tb.Fatal(err)
	}
	from, _, err := flags.Open(cmd, true)
	if err != nil {
		tb.Fatal(err)
	}
	return ask(tb.Context(), from, &source.Scope{Focus: foresight.Focus{Nodes: &q.Selection}, At: foresight.Moment{At: q.At}}, q)
}

// planOf computes the plan for one node of a big dump.
func planOf(tb testing.TB, from io.Reader) {
	tb.Helper()
	change, err := foresight.ParseChange("maintenance:NoExecute")
	if err != nil {
		tb.Fatal(err)
	}
	q := foresight.Question{Selection: foresight.Selection{Names: []string{"node-0"}}, Changes: []foresight.Change{change}, At: time.Now()}
	plan, err := planFrom(tb, q, from)
	if err != nil {
		tb.Fatal(err)
	}
	if plan.Total.Evict != 100 || plan.Owners[0].Replicas != 50 {
		tb.Fatalf("total %+v, owner %+v", plan.Total, plan.Owners[0])
	}
}

func dumpOf(tb testing.TB, form string, pods int) io.Reader {
	tb.Helper()
	c := bigdump.Cluster{Nodes: pods / 100, PodsPerNode: 100}
	write := c.JSON
	if form == "YAML" {
		write = c.YAML
	}
	from, err := write()
	if err != nil {
		tb.Fatal(err)
	}
	return from
}

// Hashes of its name, UID and state are kept, so that a pod that is there twice counts once.
func TestAPodThatIsNotInQuestionTakesAtMost300Bytes(t *testing.T) {
	peak := func(pods int) uint64 {
		before, from := bigdump.InUse(), &bigdump.Weighed{Reader: dumpOf(t, "JSON", pods)}
		planOf(t, from)
		return from.Peak - min(before, from.Peak)
	}
	peak(100) // what is allocated once
	small, large := peak(1000), peak(8000)
	each := (max(small, large) - small) / 7000
	t.Logf("%d kB for 1000 pods, %d kB for 8000: %d bytes each", small>>10, large>>10, each)
	if each > 300 {
		t.Errorf("each pod takes %d bytes", each)
	}
}

// If the question is about all nodes, each pod is kept, with its prediction.
func TestAPodInQuestionTakesAKilobyte(t *testing.T) {
	const pods = 5000
	change, err := foresight.ParseChange("maintenance:NoExecute")
	if err != nil {
		t.Fatal(err)
	}
	q := foresight.Question{Selection: foresight.Selection{Selector: labels.Everything()}, Changes: []foresight.Change{change}, At: time.Now()}
	from := dumpOf(t, "JSON", pods)
	before := bigdump.InUse()
	plan, err := planFrom(t, q, from)
	if err != nil || plan.Total.Evict != pods {
		t.Fatalf("%+v, %v", plan, err)
	}
	each := (bigdump.InUse() - before) / pods
	t.Logf("%d bytes", each)
	if each > 1000 {
		t.Errorf("each pod takes %d bytes", each)
	}
	runtime.KeepAlive(plan)
}

func BenchmarkPlan(b *testing.B) {
	for _, c := range []struct {
		name, form string
		pods       int
	}{{"100,000 pods in JSON", "JSON", 100_000}, {"10,000 pods in YAML", "YAML", 10_000}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				planOf(b, dumpOf(b, c.form, c.pods))
			}
		})
	}
}
