package dump

import (
	"errors"
	"fmt"
	"io"
)

// window is a buffer with the part of a text that is being scanned.
type window struct {
	from   io.Reader
	buffer []byte
	begin  int   // of the part that has not been passed yet
	passed int64 // bytes before the buffer
	err    error // that ended the reading; io.EOF at the end of the text
}

func newWindow(from io.Reader) *window {
	return &window{from: from, buffer: make([]byte, 0, 1<<18)}
}

// rest returns the bytes that were read and have not been passed.
func (w *window) rest() []byte { return w.buffer[w.begin:] }

// pass advances the window by n bytes.
func (w *window) pass(n int) { w.begin += n }

// offset returns the number of bytes that were passed.
func (w *window) offset() int64 { return w.passed + int64(w.begin) }

// seen returns the number of bytes that were read.
func (w *window) seen() int64 { return w.passed + int64(len(w.buffer)) }

// more reads at least as many bytes as rest has, so that a long value is not scanned too often.
func (w *window) more() error {
	if w.err != nil {
		return w.err
	}
	left := w.rest()
	if len(left) > largest {
		return fmt.Errorf("the object near byte %d is larger than any that an API server has", w.offset())
	}
	w.passed += int64(w.begin)
	if room := 2*len(left) + 1; room > cap(w.buffer) {
		w.buffer = append(make([]byte, 0, 2*room), left...)
	} else {
		w.buffer = append(w.buffer[:0], left...)
	}
	w.begin = 0
	n, err := io.ReadAtLeast(w.from, w.buffer[len(w.buffer):cap(w.buffer)], len(left)+1)
	w.buffer = w.buffer[:len(w.buffer)+n]
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	w.err = err
	if n > 0 {
		return nil
	}
	return err
}

// take calls look with rest, and reads more until look has enough. It then passes the bytes before the index that
// look returns.
func (w *window) take(look func(b []byte) (end int, err error)) error {
	for {
		end, err := look(w.rest())
		if err == nil {
			w.pass(end)
			return nil
		}
		if !errors.Is(err, errShort) {
			return err
		}
		if err := w.more(); err != nil {
			return err
		}
	}
}
