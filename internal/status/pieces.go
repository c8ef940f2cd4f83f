package status

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const (
	piece         = 500              // items that are written at once
	pieceTimeout  = 10 * time.Second // for the client to take a piece
	maxAnswers    = 4                // answers of several pieces that are written at once
	answerTimeout = 2 * time.Minute  // for the client to take a whole answer
)

// list is a list of an answer. It is written in pieces, so that a slow client keeps only few items in memory.
type list struct {
	key   string
	size  int
	items func(from, to int) any // returns a slice of the items
}

func listOf[T any](key string, items []T) list {
	return list{key, len(items), func(from, to int) any { return items[from:to] }}
}

// listAs returns a list of items that are converted piece by piece.
func listAs[T, As any](key string, items []T, convert func(T) As) list {
	return list{key, len(items), func(from, to int) any { return converted(items[from:to], convert) }}
}

// converted never returns nil, which JSON would write as null.
func converted[T, As any](items []T, convert func(T) As) []As {
	list := make([]As, 0, len(items))
	for _, item := range items {
		list = append(list, convert(item))
	}
	return list
}

// answerInPieces writes value as JSON, with lists in place of its empty lists, in the same order. At most maxAnswers
// answers of several pieces are written at once; others are refused.
func (s *Server) answerInPieces(w http.ResponseWriter, value any, lists ...list) {
	if slices.ContainsFunc(lists, func(l list) bool { return l.size > piece }) {
		select {
		case s.answers <- struct{}{}:
			defer func() { <-s.answers }()
		default:
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable,
				fmt.Sprintf("too many requests: %d are already being answered; try again in a second", maxAnswers))
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	out := stream{w, http.NewResponseController(w), time.Now().Add(answerTimeout)}
	_ = out.pieces(value, lists) // an error means that the client is gone or too slow
}

// stream writes to one client, which has pieceTimeout to take each piece.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	until   time.Time // by when the client must have taken the whole answer
}

// write sends a text. If w does not support deadlines, the caller must bound the write.
func (s stream) write(text []byte) error {
	until := time.Now().Add(pieceTimeout)
	if s.until.Before(until) {
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

func (s stream) pieces(value any, lists []list) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing an answer: %w", err)
	}
	for _, l := range lists {
		start, rest, found := bytes.Cut(text, []byte(`"`+l.key+`":[]`)) // quotes within strings are escaped
		if !found {
			return fmt.Errorf("writing an answer: it has no empty list %q", l.key)
		}
		if err := s.list(fmt.Appendf(slices.Clip(start), "%q:[", l.key), l); err != nil {
			return err
		}
		text = append([]byte("]"), rest...)
	}
	return s.write(append(text, '\n'))
}

// list writes what comes before a list, and the items of the list, without the closing bracket.
func (s stream) list(before []byte, l list) error {
	if l.size == 0 {
		return s.write(before)
	}
	for from := 0; from < l.size; from += piece {
		items, err := json.Marshal(l.items(from, min(from+piece, l.size)))
		if err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
		if err := s.write(append(before, items[1:len(items)-1]...)); err != nil {
			return err
		}
		before = []byte(",")
	}
	return nil
}
