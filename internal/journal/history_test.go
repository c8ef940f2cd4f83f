package journal_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/test/faketime"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func second(s float64) time.Time {
	d := time.Duration(s * float64(time.Second))
	return faketime.Of(noon.Add(d), d)
}

// tainted parses "gpu", "gpu=a" or "gpu=a@5", which has its timeAdded at that second; the effect is NoExecute.
func tainted(texts ...string) (taints []v1.Taint) {
	for _, text := range texts {
		text, added, timed := strings.Cut(text, "@")
		key, value, _ := strings.Cut(text, "=")
		t := v1.Taint{Key: key, Value: value, Effect: v1.TaintEffectNoExecute}
		if timed {
			var s int
			_, _ = fmt.Sscan(added, &s)
			t.TimeAdded = &metav1.Time{Time: noon.Add(time.Duration(s) * time.Second)}
		}
		taints = append(taints, t)
	}
	return taints
}

// watcher is the history of the node n as one process sees it.
type watcher struct {
	history journal.NodeHistory
	before  string
	last    journal.LastWatch
	ahead   time.Duration // of the API server's clock
}

// setsItsClock makes the process's clock that many seconds ahead of the API server's.
func (w *watcher) setsItsClock(ahead int) *watcher {
	w.ahead = time.Duration(ahead) * time.Second
	return w
}

// sees shows the node by an event of the watch at that second, which is also its version.
func (w *watcher) sees(at int, taints ...string) *watcher { return w.observe(at, at, false, 0, taints) }

// finds shows the node, which has that version, by a list at that second; written is the time of its managedFields, if
// not zero.
func (w *watcher) finds(at, version, written int, taints ...string) *watcher {
	return w.observe(at, version, true, written, taints)
}

func (w *watcher) observe(at, version int, listed bool, written int, taints []string) *watcher {
	moment := time.Duration(at) * time.Second
	o := journal.Observation{
		Viewpoint: journal.Viewpoint{
			At:      skew.Instant{Time: faketime.Of(noon.Add(moment+w.ahead), moment), Min: w.ahead, Max: w.ahead},
			Created: noon.Add(-time.Hour),
		},
		Taints: tainted(taints...), Version: fmt.Sprint(version), Before: w.before, Gap: listed,
	}
	if listed && !w.last.Watched.IsZero() {
		o.Watched, o.Reached = w.last.Watched, w.last.Reached
	}
	if written != 0 {
		o.Written = noon.Add(time.Duration(written) * time.Second)
	}
	w.history, _ = w.history.Observe(o)
	w.before, w.last = o.Version, journal.LastWatch{Watched: second(float64(at)), Reached: fmt.Sprint(max(at, version))}
	return w
}

// record returns the record that the process writes, as it is stored and read again.
func (w *watcher) record(t *testing.T) journal.Record {
	t.Helper()
	r, ok := w.history.Record("u")
	if !ok {
		t.Fatal("there is nothing to record")
	}
	data, leftOut := journal.Encode(journal.Partition{Records: map[string]journal.Record{"n": r}})
	p, problems, err := journal.Decode(journal.PartitionOf("n"), data)
	if err != nil || len(problems)+len(leftOut) > 0 {
		t.Fatal(err, problems, leftOut)
	}
	return p.Records["n"]
}

// reads reads the record of another process at second 30.
func (w *watcher) reads(t *testing.T, writer *watcher) *watcher {
	t.Helper()
	w.history, _ = w.history.ApplyRecord("u", writer.record(t), journal.Viewpoint{
		At: skew.Instant{Time: second(30)}, Created: noon.Add(-time.Hour), LastWatch: writer.last,
	})
	return w
}

// String returns the states, such as "gpu=a@5 gpu=b@7"; a state that has ended is in parentheses.
func (w *watcher) String() string {
	var texts []string
	for _, history := range w.history.Taints() {
		for _, s := range history {
			text := fmt.Sprintf("%s@%g", strings.TrimSuffix(s.Taint.Key+"="+s.Taint.Value, "="), s.Since.Sub(second(0)).Seconds())
			if s.Ended {
				text = "(" + text + ")"
			}
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, " ")
}

func process() *watcher { return &watcher{} }

const ready, unreachable = v1.TaintNodeNotReady, v1.TaintNodeUnreachable

func TestSinceWhenATaintIsThere(t *testing.T) {
	for _, c := range []struct {
		name string
		node *watcher
		want string
	}{
		{"seen to appear", process().sees(1).sees(5, "gpu"), "gpu@5"},
		{"seen to appear: its timeAdded does not count", process().sees(1).sees(5, "gpu@2"), "gpu@5"},
		{"found", process().finds(9, 5, 0, "gpu"), "gpu@9"},
		{"found: from the second after its timeAdded", process().finds(9, 5, 0, "gpu@2"), "gpu@3"},
		{"found: its timeAdded is in the future", process().finds(9, 5, 0, "gpu@20"), "gpu@9"},
		{"found: its timeAdded is before the node's creation", process().finds(9, 5, 0, "gpu@-4000"), "gpu@9"},
		{"found: managedFields are never a start", process().finds(9, 5, 5, "gpu"), "gpu@9"},
		{"with another value", process().sees(1).sees(5, "gpu=a").sees(7, "gpu=b"), "(gpu=a@5) gpu=b@7"},
		{"lifted and set again", process().sees(5, "gpu").sees(6).sees(7, "gpu"), "gpu@7"},
		{"swapped", process().sees(1).sees(5, ready+"@5").sees(7, unreachable+"@7"), "(" + ready + "@5) " + unreachable + "@7"},
		{"after the end of an outage", process().sees(5, ready).sees(7, ready, "gpu").sees(9, "gpu"), "gpu@7"},
		{"one within the other", process().sees(5, ready).sees(6, ready, unreachable).sees(7, ready), ready + "@5"},
		{"two at once, of which one is from the future", process().finds(9, 5, 0, ready+"@20", unreachable+"@2"), unreachable + "@3 " + ready + "@9"},
	} {
		if got := c.node.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A watch breaks after second 5, and a list shows the node at second 20.
func TestAfterAGapATaintContinuesUnlessItWasSetAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		taint   string // at second 5
		version int    // in the list
		written int    // by managedFields
		found   []string
		want    string
	}{
		{"unchanged", "gpu", 5, 5, []string{"gpu"}, "gpu@5"},
		{"without timeAdded: nothing shows that it was set again", "gpu", 9, 0, []string{"gpu"}, "gpu@5"},
		{"managedFields show that it was written since", "gpu", 9, 9, []string{"gpu"}, "gpu@10"},
		{"they are older than the last look", "gpu", 9, 3, []string{"gpu"}, "gpu@5"},
		{"they are of another list", "gpu", 9, 9, []string{"gpu", "disk"}, "gpu@5 disk@20"},
		{"they show it for a node that has not changed", "gpu", 5, 9, []string{"gpu"}, "gpu@5"},
		{"they are in the future", "gpu", 9, 30, []string{"gpu"}, "gpu@20"},
		{"the same timeAdded", "gpu@4", 9, 9, []string{"gpu@4"}, "gpu@5"},
		{"an earlier timeAdded", "gpu@4", 9, 0, []string{"gpu@3"}, "gpu@5"},
		{"a later timeAdded", "gpu@4", 9, 0, []string{"gpu@8"}, "gpu@9"},
		{"a later timeAdded of a node that has not changed", "gpu@4", 5, 0, []string{"gpu@8"}, "gpu@5"},
		{"a swap after the last look", ready + "@4", 9, 0, []string{unreachable + "@8"}, unreachable + "@9"},
		{"a swap before it", ready + "@4", 9, 0, []string{unreachable + "@4"}, "(" + ready + "@5) " + unreachable + "@20"},
		{"another value", "gpu=a", 9, 0, []string{"gpu=b"}, "(gpu=a@5) gpu=b@20"},
		{"another one", "gpu", 9, 0, []string{"disk@8"}, "disk@9"},
		{"one that claims to be older than the last look", "gpu", 9, 0, []string{"disk@3"}, "disk@20"},
	} {
		w := process().sees(1).sees(5, c.taint).finds(20, c.version, c.written, c.found...)
		if got := w.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The last proof of the watch is older than the taint, and managedFields are older than both.
func TestATaintThatWasSetAgainWasSetNoEarlierThanBefore(t *testing.T) {
	lagging := func() *watcher {
		w := process().sees(1).sees(5, "gpu")
		w.last = journal.LastWatch{Watched: second(3), Reached: "3"}
		return w
	}
	if own := lagging().finds(20, 9, 3, "gpu").String(); own != "gpu@5" {
		t.Errorf("after a gap of its own: %s", own)
	}
	if read := process().finds(20, 9, 3, "gpu").reads(t, lagging()).String(); read != "gpu@5" {
		t.Errorf("by a record: %s", read)
	}
}

// The leader has seen the taint at second 5; the next one reads its record at second 30.
func TestARecordExplainsWhatWasFound(t *testing.T) {
	leader := func() *watcher { return process().sees(1).sees(5, "gpu=a") }
	for _, c := range []struct {
		name     string
		writer   *watcher
		node     *watcher
		explains string
	}{
		{"in the first list", leader(), process().finds(20, 5, 0, "gpu=a"), "gpu=a@5"},
		{"though its timeAdded is older", process().sees(1).sees(5, "gpu@2"), process().finds(20, 5, 0, "gpu@2"), "gpu@5"},
		{"with its earlier states", leader().sees(7, "gpu=b"), process().finds(20, 7, 0, "gpu=b"), "(gpu=a@5) gpu=b@7"},
		{"up to what was found", leader().sees(7, "gpu=b"), process().finds(6, 5, 0, "gpu=a").sees(7, "gpu=b").sees(9, "gpu=c"), "(gpu=a@5) (gpu=b@7) gpu=c@9"},
		{"and what was seen since", leader(), process().finds(20, 5, 0, "gpu=a").sees(25, "gpu=b"), "(gpu=a@5) gpu=b@25"},
		{"with another value: not", leader(), process().finds(20, 9, 0, "gpu=b"), "gpu=b@20"},
		{"a value that had ended and has returned: not", leader().sees(7, "gpu=b"), process().finds(20, 9, 0, "gpu=a"), "gpu=a@20"},
		{"what was seen to appear: not", process().finds(6, 5, 0, "gpu"), process().sees(1).sees(5, "gpu"), "gpu@5"},
		{"what was seen to be lifted, and set again: not", leader(), process().finds(6, 5, 0, "gpu=a").sees(7).sees(8, "gpu=a"), "gpu=a@8"},
		{"what began before it saw the node without it: not", leader(), process().sees(7).finds(20, 9, 0, "gpu=a"), "gpu=a@20"},
		{"a later timeAdded: not", leader(), process().finds(20, 9, 0, "gpu=a@8"), "gpu=a@9"},
		{"a later timeAdded, which the writer has seen", process().sees(1).sees(5, "gpu").sees(9, "gpu@8"), process().finds(20, 9, 0, "gpu@8"), "gpu@5"},
		{"managedFields show that it was written since", leader(), process().finds(20, 9, 9, "gpu=a"), "gpu=a@10"},
		{"managedFields that are older than the last look", leader(), process().finds(20, 9, 3, "gpu=a"), "gpu=a@5"},
		{"managedFields from the future of the writer, which has seen this version", leader().sees(9, "gpu=a"), process().finds(20, 9, 12, "gpu=a"), "gpu=a@5"},
		{"managedFields of another list", leader(), process().finds(20, 9, 9, "gpu=a", "disk"), "gpu=a@5 disk@20"},
		{"a swap after the last look: not", process().sees(1).sees(5, ready+"@5"), process().finds(20, 9, 0, unreachable+"@8"), unreachable + "@9"},
		{"a later timeAdded, which is gone: not from managedFields that are older than the last look", process().sees(1).sees(5, unreachable), process().finds(20, 9, 3, unreachable+"@8").sees(25, unreachable), unreachable + "@9"},
		{"a swap before the last look", process().sees(1).sees(5, ready+"@5").sees(9, ready+"@5"), process().finds(20, 10, 0, unreachable+"@7"), "(" + ready + "@5) " + unreachable + "@8"},
		{"after a gap of its own: what the writer saw set again in it", leader().sees(10).sees(12, "gpu=a"), process().sees(1).sees(5, "gpu=a").finds(20, 12, 0, "gpu=a"), "gpu=a@12"},
		{"after a gap of its own: what the writer saw set again in it, before a swap", process().sees(1).sees(5, ready).sees(10).sees(12, ready), process().sees(1).sees(5, ready).finds(20, 13, 0, unreachable), "(" + ready + "@12) " + unreachable + "@20"},
		{"after a gap of its own: not what it knows", leader(), process().sees(1).sees(5, "gpu=a").finds(20, 12, 0, "gpu=a"), "gpu=a@5"},
		{"after a gap of its own: what it had found before", leader(), process().finds(7, 5, 0, "gpu=a").finds(20, 12, 0, "gpu=a"), "gpu=a@5"},
		{"after a gap of its own, and another one", leader().sees(7).sees(8, "gpu=a"), process().sees(1).sees(5, "gpu=a").finds(10, 8, 0, "gpu=a").finds(20, 9, 0, "gpu=a"), "gpu=a@8"},
		{"in a gap of its own, before what it saw appear itself", leader().sees(7).sees(8, "gpu=a"), process().sees(1).sees(5, "gpu=a").finds(10, 8, 0, "gpu=a").sees(12, "gpu=a", "disk").finds(20, 14, 0, "gpu=a", "disk"), "gpu=a@8 disk@12"},
		{"after a gap of its own: what the writer found in a gap of its own, after it had seen the node without it", leader().sees(10).finds(14, 12, 0, "gpu=a"), process().sees(1).sees(5, "gpu=a").finds(20, 12, 0, "gpu=a"), "gpu=a@14"},
		{"after a gap of its own: not what the writer found in its first list", process().finds(14, 12, 0, "gpu=a"), process().sees(1).sees(5, "gpu=a").finds(20, 12, 0, "gpu=a"), "gpu=a@5"},
		{"after a gap of its own: not what began before it saw the node without it", process().sees(1).sees(5, ready).sees(15, unreachable), process().sees(6).finds(8, 7, 0, ready).finds(14, 13, 0, ready).sees(15, unreachable), "(" + ready + "@8) " + unreachable + "@15"},
		{"managedFields of an earlier list: not", leader(), process().finds(20, 9, 9, "gpu=a").finds(40, 30, 0, "gpu=b"), "(gpu=a@10) gpu=b@40"},
		{"after a gap of its own: not from before it saw the taint appear", process().finds(8, 8, 0, "gpu=b@2").sees(9, "gpu=c"), process().sees(1).sees(5, "gpu=a").finds(20, 9, 0, "gpu=c"), "(gpu=b@5) gpu=c@9"},
		{"one within the other that began at the version of the list, of which it saw the end before a swap", process().sees(5, unreachable).sees(6, unreachable, ready), process().finds(8, 6, 0, unreachable, ready).sees(9, unreachable).sees(10, ready), "(" + unreachable + "@5) " + ready + "@10"},
		{"after a gap of its own, and another one in which nothing changed: also what it found in the first", process().sees(1).sees(5, ready).sees(6).sees(7, ready), process().sees(1).sees(5, ready).finds(20, 13, 0, unreachable).finds(22, 14, 0, unreachable), "(" + ready + "@7) " + unreachable + "@20"},
		{"after a gap, what the writer found later: also what stood before the gap", process().sees(1).sees(5, ready).finds(22, 21, 0, unreachable+"@21", ready+"@21"), process().sees(1).sees(5, ready).finds(20, 13, 0, unreachable, ready).sees(25, ready), ready + "@20"},
		{"after a gap, what the writer found set again later, when the two had been swapped back: not", process().sees(1).sees(15, unreachable).finds(20, 17, 0, unreachable+"@16"), process().sees(1).sees(5, unreachable).sees(8, ready).sees(9, ready).finds(10, 9, 0, ready).sees(15, unreachable), "(" + unreachable + "@5) (" + ready + "@8) " + unreachable + "@15"},
		{"from a writer whose clock was ahead: a state that began before another one", process().setsItsClock(60).sees(1).sees(5, unreachable).setsItsClock(0).sees(7, ready), process().finds(20, 9, 0, ready), "(" + unreachable + "@7) " + ready + "@7"},
		{"from a writer whose clock was ahead: a state that began before a swap that it has not seen", process().setsItsClock(60).sees(1).sees(5, unreachable), process().finds(20, 9, 0, ready+"@8").sees(25, unreachable), "(" + unreachable + "@20) (" + ready + "@20) " + unreachable + "@25"},
		{"one within the other, of which it saw the end", process().sees(5, unreachable).sees(6, unreachable, ready), process().finds(8, 7, 0, ready, unreachable).sees(9, unreachable).sees(10, unreachable, ready), unreachable + "@5 " + ready + "@10"},
	} {
		if got := c.node.reads(t, c.writer).String(); got != c.explains {
			t.Errorf("%s: %s, want %s", c.name, got, c.explains)
		}
	}
}

func TestARecordOfAnotherNodeIsNotUsed(t *testing.T) {
	w := process().finds(20, 5, 0, "gpu")
	r := process().sees(1).sees(5, "gpu").record(t)
	r.UID = "other"
	if _, changed := w.history.ApplyRecord("u", r, journal.Viewpoint{At: skew.Instant{Time: second(30)}}); changed {
		t.Error("it is used")
	}
}

func TestNoStartIsBeforeTheNodesCreation(t *testing.T) {
	w := process().finds(20, 5, 0, "gpu")
	r := process().sees(1).sees(5, "gpu").record(t)
	w.history, _ = w.history.ApplyRecord("u", r, journal.Viewpoint{At: skew.Instant{Time: second(30)}, Created: noon.Add(15 * time.Second)})
	if got := w.String(); got != "gpu@15" {
		t.Errorf("got %s", got)
	}
}

// At second 30, the reader knows only that its clock is at most 4 s ahead of the API server's, or 3 s behind.
func TestWhatAProcessSawAppearBeforeAGapKeepsItsTime(t *testing.T) {
	found := func() *watcher { return process().sees(1).sees(5, "gpu=a").finds(9, 8, 0, "gpu=b") }
	swapped := func() *watcher { return process().sees(1).sees(5, unreachable).sees(6, ready) }
	for _, c := range []struct {
		name         string
		writer, node *watcher
		want         string
	}{
		{"in its own record", found(), found(), "(gpu=a@5) gpu=b@9"},
		{"in one of a writer that saw it later", process().finds(7, 5, 0, "gpu=a").sees(8, "gpu=b"), found(), "(gpu=a@5) gpu=b@9"},
		{
			"in one of an earlier gap, before what appeared since",
			found().sees(10, "gpu=c"), found().sees(10, "gpu=c").finds(20, 12, 0, "gpu=d"), "(gpu=a@5) (gpu=b@9) (gpu=c@10) gpu=d@20",
		},
		{
			"and what was found before it began no later",
			found().sees(10, "gpu=c").sees(12, "gpu=d"), found().sees(10, "gpu=c").finds(20, 12, 0, "gpu=d"), "(gpu=a@5) (gpu=b@10) (gpu=c@10) gpu=d@16",
		},
		{
			"and a state that its record repeats, but that has ended and begun again since",
			swapped().finds(9, 8, 0, ready, unreachable),
			swapped().finds(9, 8, 0, ready, unreachable).sees(10, ready).sees(11, ready, unreachable),
			"(" + unreachable + "@5) " + ready + "@6 " + unreachable + "@11",
		},
	} {
		c.node.history, _ = c.node.history.ApplyRecord("u", c.writer.record(t), journal.Viewpoint{
			At:        skew.Instant{Time: second(30), Min: -3 * time.Second, Max: 4 * time.Second},
			Created:   noon.Add(-time.Hour),
			LastWatch: c.writer.last,
		})
		if got := c.node.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestATaintThatIsSetAgainHasNoStartByAClockThatWasAhead(t *testing.T) {
	first := process().setsItsClock(60).sees(1).sees(5, "gpu@4")
	next := process().finds(10, 5, 0, "gpu@4").reads(t, first).finds(20, 16, 0, "gpu@15")
	if last := process().finds(28, 16, 0, "gpu@15").reads(t, next).String(); last != "gpu@16" {
		t.Errorf("after two changes of the leader: %s", last)
	}
}

func TestWhatAWriterFoundLaterMovesNoStart(t *testing.T) {
	leader := process().finds(24, 20, 0, "gpu").sees(35, "gpu").reads(t, process().finds(36, 35, 0, "gpu"))
	if next := process().finds(50, 35, 0, "gpu").reads(t, leader).String(); next != "gpu@24" {
		t.Errorf("the next leader reads %s", next)
	}
}

// Each leader finds the taint in its first list, with a clock that is off by some seconds.
func TestTenTermsMoveNoStart(t *testing.T) {
	writer := process().sees(1).sees(5, "gpu")
	first := writer.record(t)
	for term := range 10 {
		next := process().finds(20+term, 5, 0, "gpu")
		next.history, _ = next.history.ApplyRecord("u", writer.record(t), journal.Viewpoint{
			At:        skew.Instant{Time: second(40 + float64(term)), Min: -3 * time.Second, Max: 4 * time.Second},
			LastWatch: writer.last,
		})
		writer = next
	}
	if last := writer.record(t); !last.Taints[0][0].Start.Equal(first.Taints[0][0].Start) {
		t.Errorf("recorded was %v, and then %v", first.Taints[0][0].Start, last.Taints[0][0].Start)
	}
}

func TestWithMoreThanEightStatesThoseThatNoPodDistinguishesAreJoined(t *testing.T) {
	all := func(apart func(a, b *v1.Taint) bool) string {
		w := process()
		for i := range 12 {
			o := journal.Observation{
				Viewpoint: journal.Viewpoint{At: skew.Instant{Time: second(float64(i))}, Distinguishes: apart},
				Taints:    tainted(fmt.Sprint("load=", i)), Version: fmt.Sprint(i + 1), Before: w.before,
			}
			w.history, _ = w.history.Observe(o)
			w.before = o.Version
		}
		return w.String()
	}
	if got := all(func(_, _ *v1.Taint) bool { return false }); !strings.Contains(got, "@0) ") || strings.Count(got, "@") != 8 {
		t.Errorf("joined: %s", got)
	}
	for name, apart := range map[string]func(a, b *v1.Taint) bool{"any": nil, "all": func(_, _ *v1.Taint) bool { return true }} {
		if got := all(apart); strings.Contains(got, "@0)") || strings.Count(got, "@") != 8 {
			t.Errorf("%s may be distinguished, so the oldest are dropped: %s", name, got)
		}
	}
}

func TestOnlyTheEntryOfTheListOfTaintsCountsOfManagedFields(t *testing.T) {
	entry := func(s int, fields string) metav1.ManagedFieldsEntry {
		e := metav1.ManagedFieldsEntry{Manager: fmt.Sprint("of ", s), FieldsV1: metav1.NewFieldsV1(fields)}
		if s != 0 {
			e.Time = &metav1.Time{Time: noon.Add(time.Duration(s) * time.Second)}
		}
		return e
	}
	const own = `{"f:spec":{"f:taints":{}}}`
	for name, c := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		want    string
	}{
		"none":                          {nil, ""},
		"one":                           {[]metav1.ManagedFieldsEntry{entry(9, `{"f:metadata":{"f:labels":{}}}`), entry(5, own)}, "of 5"},
		"the latest of several":         {[]metav1.ManagedFieldsEntry{entry(5, own), entry(7, own), entry(6, own)}, "of 7"},
		"without a time":                {[]metav1.ManagedFieldsEntry{entry(0, own)}, ""},
		"of another field of that name": {[]metav1.ManagedFieldsEntry{entry(5, `{"f:metadata":{"f:annotations":{"f:taints":{}}}}`)}, ""},
		"not JSON":                      {[]metav1.ManagedFieldsEntry{entry(5, `"f:taints"`)}, ""},
		"without fields":                {[]metav1.ManagedFieldsEntry{{Time: new(metav1.Now())}}, ""},
	} {
		got := ""
		if written := journal.TaintsWritten(c.entries); written != nil {
			got = written.Manager
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAnInvalidEntryIsDroppedAndTheOthersCount(t *testing.T) {
	good := `{"uid":"u","version":"5","taints":[[{"key":"gpu","effect":"NoExecute","since":"2026-01-01T12:00:05Z"}]]}`
	for name, bad := range map[string]string{
		"no JSON": "{", "no states": `{"uid":"u","version":"5","taints":[[]]}`,
		"no start": strings.Replace(good, `,"since":"2026-01-01T12:00:05Z"`, "", 1),
	} {
		number := journal.PartitionOf("n")
		other := "m"
		for i := 0; journal.PartitionOf(other) != number; i++ {
			other = fmt.Sprint("m", i)
		}
		p, problems, err := journal.Decode(number, map[string]string{journal.Head: `{"version":1}`, "n": bad, other: good})
		if err != nil || len(problems) != 1 || len(p.Records) != 1 || p.Records[other].Version != "5" {
			t.Errorf("%s: %v, %v, %v", name, p.Records, problems, err)
		}
	}
	if _, _, err := journal.Decode(0, map[string]string{journal.Head: `{"version":2}`}); err == nil {
		t.Error("another version is read")
	}
	wrong := (journal.PartitionOf("n") + 1) % journal.Partitions
	if p, problems, err := journal.Decode(wrong, map[string]string{journal.Head: `{"version":1}`, "n": good}); err != nil || len(problems) != 1 || len(p.Records) > 0 {
		t.Errorf("a node of another partition: %v, %v, %v", p.Records, problems, err)
	}
	if p, problems, err := journal.Decode(0, nil); err != nil || len(problems)+len(p.Records) > 0 {
		t.Errorf("an empty one: %v, %v, %v", p.Records, problems, err)
	}
}

func TestAPartitionIsCompressedIfItDoesNotFit(t *testing.T) {
	of := func(bytes ...int) journal.Partition {
		p := journal.Partition{Records: map[string]journal.Record{}}
		random := rand.New(rand.NewPCG(1, 2))
		for i, n := range bytes {
			uid := make([]byte, n)
			for j := range uid {
				uid[j] = "0123456789abcdef"[random.IntN(16)] // two thirds remain when it is compressed
			}
			p.Records[fmt.Sprint("n", i)] = journal.Record{UID: types.UID(uid), Taints: [][]journal.TaintState{}}
		}
		return p
	}
	const budget = 900_000
	empty, _ := journal.Encode(of(0))
	for name, c := range map[string]struct {
		partition  journal.Partition
		compressed bool
		leftOut    int
	}{
		"it fits":                         {of(budget - journal.Size(empty)), false, 0},
		"a byte too many":                 {of(budget + 1 - journal.Size(empty)), true, 0},
		"it does not fit when compressed": {of(600_000, 600_000, 600_000), true, 1},
	} {
		data, leftOut := journal.Encode(c.partition)
		_, compressed := data["_records"]
		if compressed != c.compressed || len(leftOut) != c.leftOut || journal.Size(data) > budget {
			t.Errorf("%s: %d bytes, compressed: %v, left out: %v", name, journal.Size(data), compressed, leftOut)
		}
	}
}

// Of 100,000 nodes that are not ready, all records are read back; of more than fit, the others are named.
func TestAHundredThousandNodesFitAndNoStartMovesAtARestart(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	listed := tainted(unreachable + "@5")
	fill := func(nodes int) (most int, compressed bool, leftOut []string) {
		partitions := make([]map[string]journal.Record, journal.Partitions)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range nodes {
			name := fmt.Sprintf("ip-10-%d-%d-%d.eu-central-1.compute.internal", random.IntN(250), i/250, i%250)
			version := strconv.Itoa(123456789 + 5*i + random.IntN(5))
			s := journal.TaintState{Taint: listed[0], From: version, Start: second(float64(random.IntN(600)))}
			number := journal.PartitionOf(name)
			if partitions[number] == nil {
				partitions[number] = map[string]journal.Record{}
			}
			uid := fmt.Sprintf("%08x-%04x-4000-8000-%012x", random.Uint32(), random.Uint32N(1<<16), random.Uint64N(1<<48))
			partitions[number][name] = journal.Record{UID: types.UID(uid), Version: version, Taints: [][]journal.TaintState{{s}}}
		}
		for number, records := range partitions {
			data, left := journal.Encode(journal.Partition{Records: records})
			most, leftOut = max(most, journal.Size(data)), append(leftOut, left...)
			compressed = compressed || data["_records"] != ""
			p, problems, err := journal.Decode(number, data)
			if err != nil || len(problems) > 0 || len(p.Records) != len(records)-len(left) {
				t.Fatalf("%d of %d records are read; %v, %v", len(p.Records), len(records), problems, err)
			}
			for node, r := range p.Records {
				start := records[node].Taints[0][0].Start
				if r.UID != records[node].UID || !r.Taints[0][0].Start.Equal(start) {
					t.Fatalf("%s: got %+v, want %+v", node, r, records[node])
				}
				restarted, _ := journal.NodeHistory{}.Observe(journal.Observation{
					Viewpoint: journal.Viewpoint{At: skew.Instant{Time: second(700)}}, Taints: listed, Version: r.Version, Gap: true,
				})
				restarted, _ = restarted.ApplyRecord(r.UID, r, journal.Viewpoint{At: skew.Instant{Time: second(710)}})
				if since := restarted.Taints()[0][0].Since; !since.Equal(start) {
					t.Fatalf("%s: after a restart, the taint counts from %v, want %v", node, since, start)
				}
			}
		}
		return most, compressed, leftOut
	}
	for nodes, isCompressed := range map[int]bool{10_000: false, 100_000: true} {
		most, compressed, leftOut := fill(nodes)
		if len(leftOut) > 0 || most > 900_000 || compressed != isCompressed {
			t.Errorf("%d nodes: %d bytes, compressed: %t; %d are left out", nodes, most, compressed, len(leftOut))
		}
		t.Logf("%d nodes: the largest partition has %d bytes", nodes, most)
	}
	if most, _, leftOut := fill(250_000); most > 900_000 || len(leftOut) == 0 {
		t.Errorf("%d bytes; %d nodes are left out", most, len(leftOut))
	}
}

func TestACompressedEntryThatCantBeReadIsAProblem(t *testing.T) {
	for name, bad := range map[string]string{"no base64": "!", "no gzip": "e30=", "nothing": ""} {
		p, problems, err := journal.Decode(0, map[string]string{journal.Head: `{"version":1}`, "_records": bad})
		if err != nil || len(problems) != 1 || len(p.Records) != 0 {
			t.Errorf("%s: %v, %v, %v", name, p.Records, problems, err)
		}
	}
}
