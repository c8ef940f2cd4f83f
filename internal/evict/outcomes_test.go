package evict

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/internal/truncate"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestGoldenOutcomes holds docs/reference/outcomes.md equal to what the code says: the kinds and causes of package eviction,
// the waits of packages dispatch and shard, and the rules.
func TestGoldenOutcomes(t *testing.T) {
	const path = "../../docs/reference/outcomes.md"
	page := outcomesPage()
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), page); diff != "" {
		t.Errorf("%s is not current; run `make golden`:\n%s", path, diff)
	}
}

// outcomesPage writes docs/reference/outcomes.md.
func outcomesPage() string {
	var page strings.Builder
	page.WriteString("# What each answer of the API server means\n\n" +
		"This page is made from the code by `make golden`.\n\n## Outcomes\n\n")
	table(&page, "outcome", "what it means for the pod", "wait until its next call")
	for k := eviction.Accepted; k.Valid(); k++ {
		row(&page, k.String(), consequences()[k], waitAfter(k))
	}
	row(&page, "go on", "no outcome: the next request of the same call follows", "")
	page.WriteString("\n## Causes\n\n")
	table(&page, "cause", "meaning")
	for _, c := range eviction.Causes() {
		row(&page, c.Name, c.Meaning)
	}
	fmt.Fprintf(&page, "\nThe server's message is cut to %d bytes of valid UTF-8 where it enters: in the log, events, status and page.\n",
		truncate.MaxBytes)
	page.WriteString("\n## Answers\n\nA preflight is a DELETE with `dryRun=All`; it is sent before the condition is patched once a call was refused. " +
		"The first row that matches an answer counts.\n\n")
	table(&page, "request", "answer", "and it shows", "outcome", "cause", "which means")
	for _, r := range outcomeRows() {
		row(&page, r.Request, r.Answer, r.Sign, r.Outcome, r.Cause, r.Means)
	}
	return page.String()
}

// consequences are the meanings of the kinds of outcomes for the pod.
func consequences() map[eviction.Kind]string {
	return map[eviction.Kind]string{
		eviction.Accepted:    "no further call is made; the eviction is kept until the watch shows that the pod is gone",
		eviction.NotFound:    "the watch has a while to show that the pod is gone; then the pod is judged again",
		eviction.Unavailable: "stays due; all calls pause together until a GET of a node is answered",
		eviction.Throttled:   "stays due; all calls wait as long as the server asks",
		eviction.Failed:      "stays due, and is tried again",
		eviction.Blocked:     "stays due, and is tried again; an event names the budget",
		eviction.Refused:     "stays due, and is tried again; an event gives the server's message",
		eviction.Interrupted: "stays due until this process, or another one, may evict again",
		eviction.DryRun:      "nothing was sent; no further call is made while the pod stays due",
		eviction.Unconfirmed: "no deletion was sent; the pod is judged again, and is tried again if it is still due",
	}
}

// waitAfter returns how long calls wait after an outcome of this kind.
func waitAfter(k eviction.Kind) string {
	backoff, free := shard.BackoffOf(k)
	switch own := inWords(backoff); k {
	case eviction.Unavailable:
		return fmt.Sprintf("all calls: %s; its own: %s, after more than %d in a row", inWords(dispatch.OutagePauses()), own, free)
	case eviction.Throttled:
		return fmt.Sprintf("what the server asks for, %v if it does not say, at most %v", dispatch.DefaultRetryAfter, dispatch.MaxRetryAfter)
	default:
		return own
	}
}

func inWords(b dispatch.Backoff) string {
	switch {
	case b.Max == 0:
		return ""
	case b.First == b.Max:
		return b.First.String()
	}
	return fmt.Sprintf("%v, doubling to %v, with jitter", b.First, b.Max)
}

func table(page *strings.Builder, columns ...string) {
	row(page, columns...)
	page.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
}

func row(page *strings.Builder, cells ...string) {
	page.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
