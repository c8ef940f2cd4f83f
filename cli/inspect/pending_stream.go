package inspect

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/status"
)

// comeBackAfter is the time between two attempts to open a manager's stream.
const comeBackAfter = time.Second

// streamed holds the scheduled evictions of a manager, by its stream.
type streamed struct {
	*statusClient
	changed chan struct{}

	mu        sync.Mutex // guards all below
	manager   status.Manager
	evictions map[string]status.Eviction
	nodes     map[string]status.Node
	evicted   map[string]bool
	more      bool  // further rows of a snapshot follow
	trouble   error // why the stream is broken
}

// Follow requests the state once, so that a refusal is reported at once; then it follows the stream.
func (c *statusClient) Follow(ctx context.Context) (current, error) {
	if _, err := c.pending(ctx); err != nil {
		return nil, err
	}
	s := &streamed{statusClient: c, changed: make(chan struct{}, 1)}
	body, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	events := bufio.NewReader(body)
	for known := false; !known; { // the snapshot, which may arrive in pieces
		if err := s.take(events); err != nil {
			return nil, c.stranger(err)
		}
		known = s.evictions != nil && !s.more
	}
	go s.run(ctx, body, events)
	return s, nil
}

func (s *streamed) open(ctx context.Context) (io.ReadCloser, error) {
	body, err := s.get(ctx, "/api/v1/events")
	if err != nil {
		return nil, err
	}
	return newTalking(body), nil
}

// silence is how long a stream may be silent. A manager sends something every five seconds.
const silence = 15 * time.Second

var errSilent = fmt.Errorf("it has been silent for %s", silence)

// talking is a stream that fails after a silence.
type talking struct {
	io.ReadCloser
	patience *time.Timer
	silent   atomic.Bool
}

func newTalking(body io.ReadCloser) *talking {
	t := &talking{ReadCloser: body}
	t.patience = time.AfterFunc(silence, func() {
		t.silent.Store(true)
		_ = body.Close()
	})
	return t
}

func (t *talking) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	switch {
	case n > 0:
		t.patience.Reset(silence)
	case err != nil && t.silent.Load():
		err = errSilent
	}
	return n, err
}

func (t *talking) Close() error {
	t.patience.Stop()
	return t.ReadCloser.Close()
}

// run reads the stream until the context ends, and opens it again whenever it breaks.
func (s *streamed) run(ctx context.Context, body io.ReadCloser, events *bufio.Reader) {
	for {
		var err error
		for err == nil {
			err = s.take(events)
		}
		_ = body.Close()
		for err != nil {
			s.note(err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(comeBackAfter):
			}
			body, err = s.open(ctx)
		}
		events = bufio.NewReader(body)
	}
}

func (s *streamed) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = err
	s.noticed()
}

// take applies the next event of the stream.
func (s *streamed) take(events *bufio.Reader) error {
	name, data, err := nextEvent(events)
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
		s.more = rows.More
	case "change":
		err = s.change(data)
	}
	if err != nil {
		return fmt.Errorf("reading the event %s: %w", name, err)
	}
	s.trouble = nil
	s.noticed()
	return nil
}

func (s *streamed) begin(data []byte) error {
	var first struct {
		status.Snapshot
		More bool `json:"more"`
	}
	if err := json.Unmarshal(data, &first); err != nil {
		return err
	}
	s.manager, s.more = first.Manager, first.More
	s.evictions, s.nodes, s.evicted = map[string]status.Eviction{}, map[string]status.Node{}, map[string]bool{}
	s.add(first.Evictions)
	for _, n := range first.Nodes {
		s.nodes[n.Name] = n
	}
	return nil
}

func (s *streamed) add(evictions []status.Eviction) {
	for i := range evictions {
		s.evictions[evictions[i].UID] = evictions[i]
	}
}

func (s *streamed) change(data []byte) error {
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

// noticed signals a change.
func (s *streamed) noticed() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *streamed) news() <-chan struct{} { return s.changed }

func (s *streamed) look() *foresight.Pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := s.tell(&status.Snapshot{
		At: time.Now().Round(0), Manager: s.manager,
		Evictions: slices.Collect(maps.Values(s.evictions)), Nodes: slices.Collect(maps.Values(s.nodes)),
	})
	if s.trouble != nil {
		pending.Notes = append(pending.Notes, fmt.Sprintf("the manager does not answer, so this may be out of date: %v", s.trouble))
	}
	return pending
}

// left distinguishes the pods that the manager has evicted from those whose eviction has ended for another reason.
// The manager does not report that reason.
func (s *streamed) left(uid types.UID) (change, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.evicted[string(uid)] {
		return evicted, ""
	}
	return over, ""
}

// nextEvent reads a server-sent event, as the manager writes it: a name and one line of data.
func nextEvent(r *bufio.Reader) (name string, data []byte, err error) {
	for {
		line, err := boundedLine(r)
		if err != nil {
			return "", nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		field, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case len(line) == 0 && name != "":
			return name, data, nil
		case string(field) == "event":
			name = string(value)
		case string(field) == "data":
			data = value
		}
	}
}

// boundedLine reads a line, and fails if it is longer than a manager writes.
func boundedLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > largestAnswer:
			return nil, errTooLarge
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}
