package source

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/status"
)

const eventsPath = "/api/v1/events"

// comeBackAfter is the time between two attempts to open a manager's stream.
const comeBackAfter = time.Second

// Stream is the state of a manager, kept up to date by its stream.
type Stream struct {
	from      *Manager
	namespace string   // in question; empty for all
	among     []string // nodes in question; empty for all
	changed   chan struct{}

	mu         sync.Mutex // guards all below
	manager    status.Manager
	evictions  map[string]status.Eviction
	nodes      map[string]status.Node
	evicted    map[string]bool
	unfinished bool  // further rows of the snapshot follow
	trouble    error // why the stream is broken
}

// Follow requests the state once, so that a refusal is reported at once; then it follows the stream until the context
// ends.
func (m *Manager) Follow(ctx context.Context, namespace string, nodes []string) (*Stream, error) {
	if _, err := m.snapshot(ctx); err != nil {
		return nil, err
	}
	s := &Stream{from: m, namespace: namespace, among: nodes, changed: make(chan struct{}, 1)}
	body, err := m.get(ctx, eventsPath)
	if err != nil {
		return nil, err
	}
	lines := linesOf(body)
	for complete := false; !complete; { // the snapshot may arrive in pieces
		if err := s.next(body, lines); err != nil {
			return nil, m.errNotManager(err)
		}
		complete = s.evictions != nil && !s.unfinished
	}
	go s.run(ctx, body, lines)
	return s, nil
}

// silence is how long a stream may be silent. A manager sends something every five seconds.
const silence = 15 * time.Second

var errSilent = fmt.Errorf("it has been silent for %s", silence)

// next applies the next event of the stream. A stream that is silent for too long is closed.
func (s *Stream) next(body io.Closer, lines *bufio.Scanner) error {
	patience := time.AfterFunc(silence, func() { _ = body.Close() })
	err := s.apply(lines)
	if !patience.Stop() && err != nil {
		return errSilent
	}
	return err
}

// run reads the stream until the context ends, and opens it again whenever it breaks.
func (s *Stream) run(ctx context.Context, body io.ReadCloser, lines *bufio.Scanner) {
	for {
		var err error
		for err == nil {
			err = s.next(body, lines)
		}
		_ = body.Close()
		for err != nil {
			s.note(err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(comeBackAfter):
			}
			body, err = s.from.get(ctx, eventsPath)
		}
		lines = linesOf(body)
	}
}

func (s *Stream) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = err
	notify(s.changed)
}

// apply applies the next event of the stream.
func (s *Stream) apply(lines *bufio.Scanner) error {
	name, data, err := nextEvent(lines)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch name {
	case "snapshot":
		err = s.begin(data)
	case "rows":
		var rows status.Rows
		err = json.Unmarshal(data, &rows)
		s.add(rows.Evictions)
		s.unfinished = rows.More
	case "change":
		err = s.change(data)
	}
	if err != nil {
		return fmt.Errorf("reading the event %s: %w", name, err)
	}
	s.trouble = nil
	notify(s.changed)
	return nil
}

func (s *Stream) begin(data []byte) error {
	var first struct {
		status.Snapshot
		More bool `json:"more"`
	}
	if err := json.Unmarshal(data, &first); err != nil {
		return err
	}
	s.manager, s.unfinished = first.Manager, first.More
	s.evictions, s.nodes, s.evicted = map[string]status.Eviction{}, map[string]status.Node{}, map[string]bool{}
	s.add(first.Evictions)
	for _, n := range first.Nodes {
		s.nodes[n.Name] = n
	}
	return nil
}

func (s *Stream) add(evictions []status.Eviction) {
	for i := range evictions {
		s.evictions[evictions[i].UID] = evictions[i]
	}
}

func (s *Stream) change(data []byte) error {
	var c status.Change
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if s.evictions == nil {
		return errors.New("it came before the snapshot")
	}
	s.add(c.Evictions)
	for _, uid := range c.Gone {
		delete(s.evictions, uid)
	}
	for _, n := range c.Nodes {
		s.nodes[n.Name] = n
	}
	for i := range c.Evicted {
		s.evicted[c.Evicted[i].UID] = true
	}
	for _, name := range c.NodesGone {
		delete(s.nodes, name)
	}
	if c.Manager != nil {
		s.manager = *c.Manager
	}
	return nil
}

// News receives a value when something has changed.
func (s *Stream) News() <-chan struct{} { return s.changed }

// Pending returns what the manager has of the pods in question. A note says why the stream is broken.
func (s *Stream) Pending() *foresight.Pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := pendingOf(&status.Snapshot{
		At: time.Now().Round(0), Manager: s.manager,
		Evictions: slices.Collect(maps.Values(s.evictions)), Nodes: slices.Collect(maps.Values(s.nodes)),
	}, s.namespace, s.among)
	if s.trouble != nil {
		pending.Notes = append(pending.Notes, fmt.Sprintf("the manager does not answer, so this may be "+
			"out of date: %v", s.trouble))
	}
	return pending
}

// Ended returns [Evicted] if the manager has evicted the pod since the stream began, else [Over].
func (s *Stream) Ended(uid string) (change, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.evicted[uid] {
		return Evicted, ""
	}
	return Over, ""
}

// linesOf returns the lines of a stream. A line that is longer than a manager writes is an error.
func linesOf(body io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, largestAnswer)
	return lines
}

// nextEvent reads a server-sent event, as the manager writes it: a name and one line of data.
func nextEvent(lines *bufio.Scanner) (name string, data []byte, err error) {
	for lines.Scan() {
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch {
		case len(field) == 0 && name != "":
			return name, data, nil
		case string(field) == "event":
			name = string(value)
		case string(field) == "data":
			data = bytes.Clone(value)
		}
	}
	if err := lines.Err(); !errors.Is(err, bufio.ErrTooLong) {
		return "", nil, cmp.Or(err, io.EOF)
	}
	return "", nil, errTooLarge
}
