package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

const (
	maxAnswers    = 4               // answers with lists that are written at once
	answerTimeout = 2 * time.Minute // of a whole answer
)

// list is a list of an answer. It is written in pieces, so that a slow client occupies memory for few items.
type list struct {
	key   string
	size  int
	items func(from, to int) any // a slice of them
}

func evictionList(key string, views []eviction.View) list {
	return list{key, len(views), func(from, to int) any { return evictionsOf(views[from:to]) }}
}

func nodeList(key string, nodes []Node) list {
	return list{key, len(nodes), func(from, to int) any { return nodes[from:to] }}
}

func evictedList(key string, latest []PastEviction) list {
	return list{key, len(latest), func(from, to int) any { return evictedOf(latest[from:to]) }}
}

// limited passes on at most maxAnswers requests at once, and refuses the others.
func (s *Server) limited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.answers <- struct{}{}:
			defer func() { <-s.answers }()
			next(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable,
				fmt.Sprintf("%d such requests are being answered already; try again in a second", maxAnswers))
		}
	}
}

// answerInPieces writes JSON. The lists are empty in the value, and come in its order.
func answerInPieces(w http.ResponseWriter, value any, lists ...list) {
	w.Header().Set("Content-Type", "application/json")
	out := newStream(w)
	out.until = time.Now().Add(answerTimeout)
	_ = out.pieces(value, lists) // the client is gone then, or too slow
}

func (s stream) pieces(value any, lists []list) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing an answer: %w", err)
	}
	for _, l := range lists {
		start, rest, found := bytes.Cut(text, []byte(`"`+l.key+`":[]`)) // a string in it has its quotes escaped
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

// list writes what comes before a list, and the list without its end.
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
