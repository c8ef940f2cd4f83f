package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Progress draws a progress bar on a terminal. It draws nothing if there is no terminal, or if the operation is short.
type Progress struct {
	w     io.Writer // nil: nothing is drawn
	what  string
	Total int64 // 0: unknown
	done  int64
	next  time.Time // when to draw again
	drawn bool
}

const (
	soonOver = 500 * time.Millisecond
	frame    = 100 * time.Millisecond
	barWidth = 30
)

// NewProgress returns a progress at 0; a total of 0 means unknown.
func NewProgress(w io.Writer, what string, total int64) *Progress {
	p := &Progress{what: Escape(what), Total: total, next: time.Now().Add(soonOver)}
	if OnTerminal(w) {
		p.w = w
	}
	return p
}

// Add adds n to what is done.
func (p *Progress) Add(n int64) {
	p.done += n
	if p.w == nil || time.Now().Before(p.next) {
		return
	}
	p.next = time.Now().Add(frame)
	p.drawn = true
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", p)
}

// Done returns how much is done.
func (p *Progress) Done() int64 { return p.done }

// End removes the bar.
func (p *Progress) End() {
	if p.drawn {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func (p *Progress) String() string {
	if p.Total <= 0 {
		return fmt.Sprintf("%s: %s", p.what, amount(p.done))
	}
	part := min(float64(p.done)/float64(p.Total), 1)
	full := int(part * barWidth)
	return fmt.Sprintf("%s [%s%s] %3.0f %%", p.what, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full),
		part*100)
}

// amount formats a number of bytes or objects, in thousands and millions.
func amount(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1f k", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// Reading counts the bytes that are read from r.
type Reading struct {
	io.Reader
	Progress *Progress
}

func (r Reading) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.Progress.Add(int64(n))
	return n, err
}
