package store

import (
	"errors"
	"fmt"
	"strings"
	"sync"

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

// problem notes a problem of the object; an empty text removes it.
func (o *object) problem(k Kind, text string) {
	text = truncate.Text(text)
	if text != o.problems[k] {
		o.problems[k] = text
		o.effects.Troubles = append(o.effects.Troubles, Trouble{o.name, o.number, k, text})
	}
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
	metrics *metrics

	mu      sync.Mutex
	objects map[Kind]map[int]bool // that have such a problem
}

func newTroubles(logger logr.Logger, m *metrics) *troubles {
	t := &troubles{logger: logger, metrics: m, objects: map[Kind]map[int]bool{}}
	for _, p := range phrases {
		t.objects[p.kind] = map[int]bool{}
	}
	return t
}

// note notes a change of a problem, and logs it if the object had no problem of this kind, or no object has it any
// more.
func (t *troubles) note(one *Trouble) {
	t.mu.Lock()
	defer t.mu.Unlock()
	objects := t.objects[one.Kind]
	known := objects[one.Number]
	if objects[one.Number] = true; one.Text == "" {
		delete(objects, one.Number)
	}
	t.metrics.problems.WithLabelValues(string(one.Kind)).Set(float64(len(objects)))
	switch {
	case one.Text != "" && !known:
		t.logger.Info("A problem of the journal: what it lacks counts as not recorded", "kind", one.Kind,
			"object", one.Object, "problem", one.Text)
	case len(objects) == 0:
		t.logger.Info("A problem of the journal is over", "kind", one.Kind)
	}
}

// summary returns a short description of all problems; nil if there are none.
func (t *troubles) summary() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var parts []string
	for _, p := range phrases {
		if n := len(t.objects[p.kind]); n > 0 {
			parts = append(parts, fmt.Sprintf("ConfigMaps that %s: %d", p.phrase, n))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return errors.New(strings.Join(append(parts, "the log says more"), "; "))
}
