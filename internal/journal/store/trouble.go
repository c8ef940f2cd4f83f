package store

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/taint-manager/taint-manager/internal/truncate"
)

// Kind is the kind of an object's problem; it is the label of a metric.
type Kind string

const (
	unread    Kind = "unread"
	unwritten Kind = "unwritten"
	version   Kind = "version"
	invalid   Kind = "invalid"
	full      Kind = "full"
)

// phrases describe the kinds of problems, in the order in which they are reported.
var phrases = []struct {
	kind   Kind
	phrase string
}{
	{unread, "can't be read"},
	{unwritten, "can't be written"},
	{version, "are of an unknown version"},
	{invalid, "have invalid entries"},
	{full, "cannot hold all nodes"},
}

// logInterval is the time in which no further problem of the same kind and object is logged.
const logInterval = time.Minute

// problem notes a problem of the object; an empty text removes it.
func (o *object) problem(k Kind, text string) {
	text = truncate.Text(text)
	before := o.problems[k]
	if text == before {
		return
	}
	o.problems[k] = text
	if text == "" {
		delete(o.problems, k)
	}
	o.effects.Troubles = append(o.effects.Troubles, Trouble{o.label(), k, before == "", text})
}

// label returns the name of the object for messages.
func (o *object) label() string {
	switch {
	case o.name != "":
		return o.name
	case o.isState():
		return "the state"
	}
	return fmt.Sprintf("partition %d", o.number)
}

// fail notes an error as a problem; nil removes it.
func (o *object) fail(k Kind, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	o.problem(k, text)
}

// joined joins the first values to a text, which ends with the number of the others.
func joined[T any](values []T, most int, separator string) string {
	var texts []string
	for _, value := range values[:min(len(values), most)] {
		texts = append(texts, fmt.Sprint(value))
	}
	if more := len(values) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, separator)
}

// troubles counts the problems of all objects and logs them. It is safe for concurrent use.
type troubles struct {
	logger  logr.Logger
	metrics *Metrics

	mu      sync.Mutex
	objects map[Kind]int // that have such a problem
	logged  map[string]time.Time
}

func newTroubles(logger logr.Logger, m *Metrics) *troubles {
	return &troubles{logger: logger, metrics: m, objects: map[Kind]int{}, logged: map[string]time.Time{}}
}

// note notes a change of a problem.
func (t *troubles) note(one *Trouble) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.New {
		t.add(one.Kind, 1)
	}
	if one.Text != "" {
		t.log(one)
		return
	}
	t.add(one.Kind, -1)
	if t.objects[one.Kind] == 0 {
		t.logger.Info("A problem of the journal is over", "kind", one.Kind)
	}
}

// log logs a problem. Problems that seldom concern one object only are logged once for all of them.
func (t *troubles) log(one *Trouble) {
	topic := string(one.Kind)
	if one.Kind != unread && one.Kind != unwritten {
		topic += one.Object
	}
	if last, ok := t.logged[topic]; ok && time.Since(last) < logInterval {
		return
	}
	t.logged[topic] = time.Now()
	t.logger.Info("A problem of the journal: what it lacks counts as not recorded", "kind", one.Kind, "object",
		one.Object, "problem", one.Text)
}

// forget removes all problems without logging that.
func (t *troubles) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, n := range t.objects {
		t.add(k, -n)
	}
}

func (t *troubles) add(k Kind, n int) {
	t.objects[k] += n
	t.metrics.problems.WithLabelValues(string(k)).Set(float64(t.objects[k]))
}

// summary returns a short description of all problems; nil if there are none.
func (t *troubles) summary() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var parts []string
	for _, p := range phrases {
		if n := t.objects[p.kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("ConfigMaps that %s: %d", p.phrase, n))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return errors.New(strings.Join(append(parts, "the log says more"), "; "))
}
