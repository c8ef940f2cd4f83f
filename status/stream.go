package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

const (
	piece        = 500              // evictions in one message of a snapshot
	writeTimeout = 10 * time.Second // of one message
	comeBack     = 1000             // milliseconds after which a viewer reconnects
)

// events streams a snapshot and then what changes, as server-sent events.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	v, err := s.broadcaster.join(r.Context(), r.Header.Get("Last-Event-ID"))
	if err != nil {
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	defer s.broadcaster.leave(v)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.Header().Set("Vary", "Accept-Encoding")
	out := newStream(w)
	if accepts(r) {
		w.Header().Set("Content-Encoding", "gzip")
		out.deflated = &deflated{compressors: &s.compressors}
		defer out.end()
	}
	if out.write(fmt.Appendf(nil, "retry: %d\n\n", comeBack)) != nil {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case m, ok := <-v.messages:
			if !ok || s.pass(r.Context(), out, m) != nil {
				return
			}
		}
	}
}

// pass writes one message.
func (s *Server) pass(ctx context.Context, out stream, m message) error {
	if m.sample == nil {
		return out.write(event("change", m.id, m.change))
	}
	return s.snapshotTo(ctx, out, m)
}

// snapshotTo writes a snapshot in pieces, so that the reader can process each as it arrives. The id comes with the
// last piece: a stream that breaks before cannot be resumed.
func (s *Server) snapshotTo(ctx context.Context, out stream, m message) error {
	facts := m.sample.facts
	facts.Past = s.sampler.options.History.upTo(facts.Past.Total, facts.At)
	views := sorted(facts.Views)
	first := head(facts)
	first.Evictions, views = cutPiece(views)
	name, value := "snapshot", any(struct {
		Snapshot
		More bool `json:"more"`
	}{first, len(views) > 0})
	for ctx.Err() == nil {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("writing a snapshot: %w", err)
		}
		id := ""
		if len(views) == 0 {
			id = m.id
		}
		if err := out.write(event(name, id, text)); err != nil || id != "" {
			return err
		}
		var rows Rows
		rows.Evictions, views = cutPiece(views)
		rows.More = len(views) > 0
		name, value = "rows", rows
	}
	return ctx.Err()
}

// cutPiece takes the first evictions off.
func cutPiece(views []eviction.View) ([]Eviction, []eviction.View) {
	n := min(piece, len(views))
	return evictionsOf(views[:n]), views[n:]
}

// event returns a server-sent event. JSON as encoding/json writes it has no line breaks.
func event(name, id string, data []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(data) + 64)
	b.WriteString("event: " + name + "\n")
	if id != "" {
		b.WriteString("id: " + id + "\n")
	}
	b.WriteString("data: ")
	b.Write(data)
	b.WriteString("\n\n")
	return b.Bytes()
}

// stream writes to one client, which has writeTimeout to take each message or piece.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	until   time.Time // when all must have been taken; zero: never

	// deflated compresses the messages; nil where the viewer does not take gzip.
	deflated *deflated
}

func newStream(w http.ResponseWriter) stream {
	return stream{w: w, control: http.NewResponseController(w)}
}

// write sends a text, compressed where the viewer takes that.
func (s stream) write(text []byte) error {
	if s.deflated == nil {
		return s.send(text)
	}
	text, err := s.deflated.message(text)
	if err != nil {
		return fmt.Errorf("compressing a message: %w", err)
	}
	return s.send(text)
}

// end completes the compressed file.
func (s stream) end() {
	if last, err := s.deflated.end(); err == nil {
		_ = s.send(last)
	}
}

// send sends a text. A writer without deadlines is a caller's own, which the caller bounds.
func (s stream) send(text []byte) error {
	until := time.Now().Add(writeTimeout)
	if !s.until.IsZero() && s.until.Before(until) {
		until = s.until
	}
	if err := s.control.SetWriteDeadline(until); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("bounding a write: %w", err)
	}
	if _, err := s.w.Write(text); err != nil {
		return fmt.Errorf("writing to a client: %w", err)
	}
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("writing to a client: %w", err)
	}
	return nil
}
