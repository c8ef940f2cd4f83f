package evict

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files anew")

const outcomesHead = `# What each answer of the API server means

The table that ` + "`evict`" + ` goes by, from the top: the first row that matches an answer counts. This page is
made from the code by ` + "`make golden`" + `.

What follows from each outcome:

| outcome | what happens to the pod |
|---|---|
| accepted | no further call; kept until the watch shows that it terminates or is gone |
| not-found | the watch has 5 s to show that it is gone, then it is judged again |
| unavailable | all calls pause together, 100 ms to 30 s, until a GET of a node is answered; the pod stays due, but from its second such write in a row it waits by itself, too: 100 ms, doubling to 30 s, with jitter |
| throttled | stays due; all calls wait as long as the server says |
| failed | tried again after 100 ms, doubling to 30 s, with jitter |
| blocked | tried again after 0.5 s, doubling to 15 s, with jitter; an event names the budget |
| refused | tried again after 1 s, doubling to 60 s, with jitter; an event gives the server's words |
| unconfirmed | no deletion was sent; judged again, and tried again after 50 ms, doubling to 5 s, with jitter |
| interrupted | stays due until somebody may evict again |
| go on | the next request of the same call follows |

The server's words are cut to 1 KiB of valid UTF-8 where they enter: in the log, events, status and page.

| request | answer | and it shows | outcome | cause | which means |
|---|---|---|---|---|---|
`

func TestGoldenOutcomes(t *testing.T) {
	var page strings.Builder
	page.WriteString(outcomesHead)
	for _, row := range Rows() {
		cells := []string{row.Request, row.Answer, row.Sign, row.Outcome, row.Cause, row.Means}
		page.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	const path = "../docs/outcomes.md"
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), page.String()); diff != "" {
		t.Errorf("%s is not current; run `make golden`:\n%s", path, diff)
	}
}
