package fieldmask

import (
	"encoding/binary"
	"io"
	"slices"
)

const (
	// header is the size of the length before each event, whose most significant byte comes first.
	header = 4

	// largest is the size of the largest event that client-go accepts.
	largest = 16 << 20

	// kept is the capacity up to which a buffer is kept for the next event.
	kept = 64 << 10
)

// stream reads the events of a watch, without their unused fields. It has at most one event in memory. Only one
// goroutine may call Read; another may call Close.
type stream struct {
	body io.ReadCloser

	event, pruned []byte // with their lengths
	pending       []byte // still to be handed out, part of event or of pruned
	passing       int64  // still to be handed out directly from the body, of an event that is too large
	err           error  // ends the stream once nothing is pending
}

// Read hands out what is left of an event, or waits for the next event. Errors are those of the body, unwrapped, except
// that io.EOF within an event is io.ErrUnexpectedEOF.
func (s *stream) Read(p []byte) (n int, err error) {
	if len(s.pending) == 0 && s.passing == 0 && s.err == nil {
		s.next()
	}
	switch {
	case len(s.pending) > 0:
		n = copy(p, s.pending)
		s.pending = s.pending[n:]
		return n, nil
	case s.passing > 0:
		n, err = s.body.Read(p[:min(s.passing, int64(len(p)))])
		s.passing -= int64(n)
		return n, err
	}
	return 0, s.err
}

// Close closes the body, which ends a blocked Read.
func (s *stream) Close() error { return s.body.Close() }

// next reads the next event. Of an event that is cut off, what has arrived is pending.
func (s *stream) next() {
	s.event, s.pruned, s.pending = emptied(s.event), emptied(s.pruned), nil
	s.arrive(header)
	if s.err == nil {
		s.content(binary.BigEndian.Uint32(s.event))
	}
	s.pending = s.event
	if s.err == nil && s.passing == 0 && s.prune() {
		s.pending = s.pruned
	}
}

// content reads the event after its length, unless it is too large.
func (s *stream) content(size uint32) {
	if size > largest {
		s.passing = int64(size)
		return
	}
	s.arrive(int(size))
}

// arrive appends n bytes to the event.
func (s *stream) arrive(n int) {
	before := len(s.event)
	s.event = slices.Grow(s.event, n)[:before+n]
	n, s.err = io.ReadFull(s.body, s.event[before:])
	s.event = s.event[:before+n]
}

// prune writes the used fields of the event to pruned. It returns false if the whole event is to be handed out.
func (s *stream) prune() bool {
	event := s.event[header:]
	m := maskOf(event)
	if m == nil {
		return false
	}
	pruned, err := m.prune(append(s.pruned, s.event[:header]...), event)
	if err != nil {
		return false
	}
	binary.BigEndian.PutUint32(pruned, uint32(len(pruned)-header))
	s.pruned = pruned
	return true
}

// emptied returns a buffer for the next event. It releases a buffer that a large event has needed.
func emptied(buffer []byte) []byte {
	if cap(buffer) > kept {
		return nil
	}
	return buffer[:0]
}
