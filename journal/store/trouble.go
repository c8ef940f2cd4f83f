package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/taint-manager/taint-manager/internal/truncate"
	"github.com/taint-manager/taint-manager/journal"
)

// kind is the kind of a partition's problem; it is the label of a metric.
type kind string

const (
	unread    kind = "unread"
	unwritten kind = "unwritten"
	missing   kind = "missing"
	foreign   kind = "version"
	nonsense  kind = "invalid"
	full      kind = "full"
	stale     kind = "stale"
)

// phrases describe the kinds of problems, in the order in which they are reported.
var phrases = []struct {
	kind   kind
	phrase string
}{
	{unread, "can't be read"},
	{unwritten, "can't be written"},
	{missing, "do not exist and may not be created"},
	{foreign, "are of an unknown version"},
	{nonsense, "have invalid entries"},
	{full, "cannot hold all nodes"},
	{stale, "were not written for too long"},
}

// quiet is the time in which no further problem of the same kind and partition is logged.
const quiet = time.Minute

// problem notes a problem of the partition; an empty text removes it.
func (p *partition) problem(k kind, text string) {
	text = truncate.Text(text)
	before := p.problems[k]
	if text == before {
		return
	}
	p.problems[k] = text
	if text == "" {
		delete(p.problems, k)
	}
	p.keeper.troubles.turn(k, p.name(), before, text)
}

// fail notes an error as a problem; nil removes it.
func (p *partition) fail(k kind, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	p.problem(k, text)
}

// list joins errors to one text.
func list(errs []error) string {
	const most = 10
	var texts []string
	for _, err := range errs[:min(len(errs), most)] {
		texts = append(texts, err.Error())
	}
	if len(errs) > most {
		texts = append(texts, fmt.Sprintf("and %d more", len(errs)-most))
	}
	return strings.Join(texts, "; ")
}

// troubles counts the problems of all partitions and logs them. It is safe for concurrent use.
type troubles struct {
	logger  logr.Logger
	metrics *Metrics

	mu         sync.Mutex
	partitions map[kind]int // that have such a problem
	said       map[string]time.Time
	missing    [journal.Partitions]*MissingError
}

func newTroubles(logger logr.Logger, m *Metrics) *troubles {
	return &troubles{logger: logger, metrics: m, partitions: map[kind]int{}, said: map[string]time.Time{}}
}

// turn notes that a partition's problem of a kind has changed, appeared or disappeared.
func (t *troubles) turn(k kind, partition, before, now string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before == "" {
		t.add(k, 1)
	}
	if now != "" {
		t.say(k, partition, now)
		return
	}
	t.add(k, -1)
	if t.partitions[k] == 0 {
		t.logger.Info("A problem of the journal is over", "kind", k)
	}
}

// say logs a problem. Problems that seldom concern one partition only are logged once for all of them.
func (t *troubles) say(k kind, partition, text string) {
	topic := string(k)
	if k != unread && k != unwritten && k != missing {
		topic += partition
	}
	if last, ok := t.said[topic]; ok && time.Since(last) < quiet {
		return
	}
	t.said[topic] = time.Now()
	t.logger.Info("A problem of the journal: what it lacks counts as not recorded", "kind", k, "partition", partition, "problem", text)
}

// forget removes a problem without logging it.
func (t *troubles) forget(k kind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(k, -1)
}

func (t *troubles) add(k kind, n int) {
	t.partitions[k] += n
	t.metrics.problems.WithLabelValues(string(k)).Add(float64(n))
}

// sum returns a short description of all problems; nil if there are none.
func (t *troubles) sum() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var parts []string
	for _, p := range phrases {
		if n := t.partitions[p.kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("partitions that %s: %d", p.phrase, n))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	if how := t.howToCreate(); how != "" {
		parts = append(parts, how)
	}
	return errors.New(strings.Join(slices.Concat(parts, []string{"the log says more"}), "; "))
}
