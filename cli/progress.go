package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress draws a bar on a terminal while something lasts, and nothing where there is no terminal or
// where it is soon over.
type progress struct {
	w     io.Writer // nil: nothing is drawn
	what  string
	total int64 // 0: not known
	done  int64
	next  time.Time // when to draw again
	drawn bool
}

const (
	soonOver = 500 * time.Millisecond
	frame    = 100 * time.Millisecond
	barWidth = 30
)

func newProgress(w io.Writer, what string, total int64) *progress {
	p := &progress{what: what, total: total, next: time.Now().Add(soonOver)}
	if onTerminal(w) {
		p.w = w
	}
	return p
}

// add says that so much more is done.
func (p *progress) add(n int64) {
	p.done += n
	if p.w == nil || time.Now().Before(p.next) {
		return
	}
	p.next = time.Now().Add(frame)
	p.drawn = true
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", p)
}

// end takes the bar away.
func (p *progress) end() {
	if p.drawn {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}

func (p *progress) String() string {
	if p.total <= 0 {
		return fmt.Sprintf("%s: %s", p.what, amount(p.done))
	}
	part := min(float64(p.done)/float64(p.total), 1)
	full := int(part * barWidth)
	return fmt.Sprintf("%s [%s%s] %3.0f %%", p.what, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), part*100)
}

// amount is a number of bytes or objects, in thousands and millions.
func amount(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1f k", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// reading counts what is read of r.
type reading struct {
	io.Reader
	progress *progress
}

func (r reading) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.progress.add(int64(n))
	return n, err
}
